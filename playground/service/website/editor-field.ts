import { html } from 'hono/html';
import { limits } from '../limits.ts';
import type { SiteFacts } from '../publisher.ts';
import { parseParams } from '../schemas.ts';
import type { Snippet } from '../store/snippets.ts';
import { variablesOf } from '../template.ts';
import { findingsList } from './check-notices.ts';
import type { WebsiteEnvironment } from './environment.ts';
import { field } from './layout.ts';
import type { Html } from './page-facts.ts';
import type { Finding } from './publish-checks.ts';

type Edited = Pick<Snippet, 'id' | 'draft' | 'sample'>;
type Site = WebsiteEnvironment['Variables']['publisher'];

/**
 * The text of a snippet. Without scripts it is a text area. A script puts a code editor in its place, shows the buttons
 * that insert something, and marks the lines of findings.
 */
export function draftField(
  { id, draft, sample }: Edited,
  findings: readonly Finding[],
  publisher: Site,
): Html {
  const given = [...(publisher?.shown(id)?.params ?? []), sample].map((json) => parseParams(json) ?? {});
  const variables = [...new Set([...variablesOf(draft), ...given.flatMap(Object.keys)])].slice(
    0,
    maxVariables,
  );
  const hasMedia = mediaOf(publisher?.facts()).length > 0;
  const control = html`<div class="tools row" role="group" aria-label="Insert" data-tools hidden>
            ${tool('bold', 'Bold')}${tool('list', 'List')}${tool('link', 'Link…')}${hasMedia && tool('image', 'Image…')}
            ${variables.map((name) => html`<button class="quiet" type="button" data-insert="{{ ${name} }}">{{ ${name} }}</button>`)}
          </div>
          <textarea rows="11" id="draft" name="draft" spellcheck="false" aria-describedby="draft-hint" data-findings="${JSON.stringify(findings)}">
${draft}</textarea>
          <div role="status" data-checks>${findingsList(findings)}</div>`;
  const hint = `HTML, at most ${limits.content.toLocaleString('en')} characters. A variable is written {{ plan }}, and its value is escaped.`;
  return field('draft', 'Content', control, hint);
}

/** The scripts of the page of a snippet. */
export const editorScripts: Html = html`<script type="module" src="/assets/editor.js"></script>
      <script type="module" src="/assets/code-editor.js"></script>`;

/** With more buttons, the text would be far below them. */
const maxVariables = 12;

const tool = (name: string, label: string) =>
  html`<button class="quiet" type="button" data-tool="${name}">${label}</button>`;

/** The images of the site that may be put into a snippet. */
const mediaOf = (facts: SiteFacts | undefined) =>
  facts?.paths.filter((path) => path.startsWith('/media/')) ?? [];

/** The dialogs that the buttons for links and images open. They cannot be inside the form of the snippet. */
export function insertDialogs(publisher: Site): Html {
  const facts = publisher?.facts();
  const pages = facts?.paths.filter((path) => /(?:\/|\.html)$/.test(path)) ?? [];
  const media = mediaOf(facts);
  const address = html`<input id="link-address" name="address" list="pages" required autocomplete="off" aria-describedby="link-address-hint">
          <datalist id="pages">${pages.map((path) => html`<option value="${path}"></option>`)}</datalist>`;
  const images = media.map((path) => html`<option value="${path}">${path.replace('/media/', '')}</option>`);
  return html`${dialog('link', 'Insert a link', [
    field('link-address', 'Page or address', address, 'A page of the site, such as /pricing/, or https://…'),
    field('link-text', 'Text', html`<input id="link-text" name="text" required autocomplete="off">`),
  ])}
      ${dialog('image', 'Insert an image', [
        field('image-address', 'Image', html`<select id="image-address" name="address">${images}</select>`),
        field(
          'image-text',
          'Description',
          html`<input id="image-text" name="text" autocomplete="off" aria-describedby="image-text-hint">`,
          'For readers who do not see it. Empty if it only decorates.',
        ),
      ])}`;
}

function dialog(name: string, title: string, fields: readonly Html[]): Html {
  return html`<dialog class="card" data-dialog="${name}" aria-labelledby="${name}-title">
        <form class="fields" method="dialog">
          <h2 id="${name}-title">${title}</h2>
          ${fields}
          <div class="row"><button value="insert">Insert</button><button class="quiet" value="cancel" formnovalidate>Cancel</button></div>
        </form>
      </dialog>`;
}
