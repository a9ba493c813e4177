import { Hono } from 'hono';
import { html } from 'hono/html';
import { problemKinds } from './problems.ts';

/** The pages that the `type` of a problem leads to. */
export function problemPages(): Hono {
  const pages = new Hono();
  for (const [status, { slug, title, explanation, advice }] of Object.entries(problemKinds)) {
    pages.get(`/problems/${slug}`, (context) =>
      context.html(html`<!doctype html>
        <html lang="en">
          <head>
            <meta charset="utf-8" />
            <meta name="viewport" content="width=device-width" />
            <title>${status} ${title}</title>
          </head>
          <body>
            <h1>${status} ${title}</h1>
            <p>${explanation}</p>
            <p>${advice}</p>
          </body>
        </html>`),
    );
  }
  return pages;
}
