import { html } from 'hono/html';
import type { Organization } from '../store/organizations.ts';

export type Html = ReturnType<typeof html>;

interface Page {
  title: string;
  body: Html;
  /** Who is signed in; nobody on the pages that explain a problem. */
  organization?: Organization;
  /** The path of the section this page belongs to. */
  section?: string;
  /**
   * Seconds after which a browser without script loads the page again, to show what has become of something. Never
   * on a page with text fields: what was typed would be lost.
   */
  reloadAfter?: number;
  scripts?: readonly Script[];
}

export type Script = 'copy' | 'draft' | 'preview' | 'publication';

const sections = [
  ['/snippets', 'Snippets'],
  ['/keys', 'API keys'],
  ['/requests', 'Requests'],
  ['/faults', 'Faults'],
  ['/account', 'Account'],
] as const;

/** A page of the website. Everything works without script; where there is one, it only saves a click. */
export function layout({ title, body, organization, section, reloadAfter, scripts = [] }: Page): Html {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    ${reloadAfter === undefined ? '' : html`<noscript><meta http-equiv="refresh" content="${reloadAfter}"></noscript>`}
    <title>${title} · Snippet Delivery Service</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/assets/website.css">
    <meta name="color-scheme" content="light dark">
    ${scripts.map((name) => html`<script type="module" src="/assets/${name}.js"></script>`)}
  </head>
  <body>
    <a class="skip" href="#main">Skip to the content</a>
    <header>
      <p class="name">Snippet Delivery Service</p>
      ${organization === undefined ? '' : navigation(organization, section)}
    </header>
    <main id="main">
      ${body}
    </main>
  </body>
</html>`;
}

function navigation(organization: Organization, section: string | undefined): Html {
  return html`<nav aria-label="Main">
        <ul>
          ${sections.map(
            ([path, text]) =>
              html`<li><a href="${path}"${path === section ? html` aria-current="page"` : ''}>${text}</a></li>`,
          )}
        </ul>
      </nav>
      <form class="sign-out" method="post" action="/sign-out">
        <span>${organization.name}</span>
        <button class="quiet">Sign out</button>
      </form>`;
}

interface Question {
  title: string;
  /** What happens then. */
  body: Html;
  /** Where the answer is sent. */
  action: string;
  /** What the button says. */
  yes: string;
  /** Sent with the answer. */
  confirm: string;
  /** Where "Cancel" leads. */
  back: string;
}

/** Asks before something is done that others may not expect. */
export function question({ title, body, action, yes, confirm, back }: Question): Html {
  return html`<h1>${title}</h1>
      <div class="card notice bad">${body}</div>
      <form class="row" method="post" action="${action}">
        <input type="hidden" name="confirm" value="${confirm}">
        <button class="danger">${yes}</button>
        <a class="button quiet" href="${back}">Cancel</a>
      </form>`;
}

/** A time of the server, for people. */
export function time(iso: string | null): Html {
  if (iso === null) return html`never`;
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`;
}
