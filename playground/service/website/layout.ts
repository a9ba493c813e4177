import { html } from 'hono/html';
import type { WebsiteEnvironment } from './environment.ts';
import type { Html, PageFacts } from './page-facts.ts';

const sections = [
  ['/snippets', 'Snippets'],
  ['/keys', 'API keys'],
  ['/account', 'Account'],
  ['/requests', 'Developer'],
] as const;

/**
 * A page of the website. Everything works without scripts, which only save clicks.
 *
 * @param signedIn who is signed in, absent on pages that explain a problem.
 */
export function layout(
  { title, section, reloadAfter }: PageFacts,
  body: Html,
  signedIn?: Pick<WebsiteEnvironment['Variables'], 'organization' | 'person'>,
): Html {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    ${reloadAfter && html`<noscript><meta http-equiv="refresh" content="${reloadAfter}"></noscript>`}
    <title>${title} · Snippet Delivery Service</title>
    <link rel="icon" href="/assets/logo.svg">
    <link rel="stylesheet" href="/assets/website.css">
    <meta name="color-scheme" content="light dark">
    <script type="module" src="/assets/website.js"></script>
  </head>
  <body>
    <a class="hidden" href="#main">Skip to the content</a>
    <header>
      <p class="row"><img src="/assets/logo.svg" alt="" width="24" height="24"> Snippet Delivery Service</p>
      ${
        signedIn &&
        html`${navigation('Main', sections, section)}
      <form class="row" method="post" action="/sign-out">
        <span>${signedIn.person && html`<a href="/account#you">${signedIn.person}</a> · `}${signedIn.organization.name}</span>
        <button class="quiet">Sign out</button>
      </form>`
      }
    </header>
    <main id="main">
      ${body}
    </main>
  </body>
</html>`;
}

/** Links to pages, with the current one marked. */
export function navigation(
  label: string,
  links: readonly (readonly [path: string, text: string])[],
  shown?: string,
): Html {
  const items = links.map(
    ([path, text]) =>
      html`<li><a href="${path}"${path === shown && html` aria-current="page"`}>${text}</a></li>`,
  );
  return html`<nav class="grow" aria-label="${label}"><ul class="row">${items}</ul></nav>`;
}

/** A form control with its label and a hint. */
export function field(id: string, label: string, control: Html, hint?: Html | string): Html {
  return html`<div>
          <label for="${id}">${label}</label>
          ${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}
          ${control}
        </div>`;
}

/** A table. On a narrow screen, rows become blocks of labelled lines. */
export function table<Row>(
  rows: readonly Row[],
  columns: Record<string, (row: Row) => unknown>,
  caption?: Html,
): Html {
  const cells = Object.entries(columns);
  return html`<table class="card">
        ${caption}
        <thead><tr>${cells.map(([label]) => html`<th scope="col">${label}</th>`)}</tr></thead>
        <tbody>
          ${rows.map(
            (row) => html`<tr>
            ${cells.map(([label, cell]) => html`<td data-label="${label}"><div>${cell(row)}</div></td>`)}
          </tr>`,
          )}
        </tbody>
      </table>`;
}

/** A button that copies the text of an element. @param label the name of the text for screen readers. */
export function copyButton(id: string, label = ''): Html {
  return html`<button class="quiet" type="button" data-copy="${id}"${label && html` aria-label="Copy: ${label}"`} hidden>Copy</button>`;
}

/** A time in UTC, which a script makes local. */
export function time(iso: string | null): Html {
  if (iso === null) return html`never`;
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** The end of a phrase that says who did something, if that is known. */
export const by = (person: string | null): string => (person === null ? '' : ` by ${person}`);
