import { Hono } from 'hono';
import { html } from 'hono/html';
import { problemKinds, problemPath } from '../problems.ts';
import { layout } from './layout.ts';

/** The pages that the `type` of a problem leads to (specification, section 2). Nobody has to sign in for them. */
export function problemPages(): Hono {
  const pages = new Hono();
  for (const [status, { title, explanation, advice }] of Object.entries(problemKinds)) {
    const body = html`<h1>${status} ${title}</h1>
      <p>${explanation}</p>
      <p class="card notice">${advice}</p>
      <p><a href="/snippets">To the website</a></p>`;
    pages.get(problemPath(title), (context) => context.html(layout({ title: `${status} ${title}`, body })));
  }
  return pages;
}
