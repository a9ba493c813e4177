import { diffWordsWithSpace } from 'diff';
import { html } from 'hono/html';
import { limits } from '../limits.ts';
import type { Publisher, ShownPlaces } from '../publisher.ts';
import type { Snippet, SnippetVersion } from '../store/snippets.ts';
import { warningsList } from './check-notices.ts';
import { draftField, editorScripts, insertDialogs } from './editor-field.ts';
import type { WebsiteEnvironment } from './environment.ts';
import { by, copyButton, field, table, time } from './layout.ts';
import type { Html } from './page-facts.ts';
import { countOf, pathOfPage, placesList } from './places.ts';
import { sampleFields } from './sample-field.ts';
import { previewOf, revisionOf, type SnippetForm } from './snippet-form.ts';
import { previewPart } from './snippet-preview.ts';

function versionOf({ published, publishedAt }: Snippet): Html {
  return published === null
    ? html`<span class="badge">not published</span>`
    : html`version ${published}, ${time(publishedAt)}`;
}

const changed = html`<span class="badge warn">unpublished changes</span>`;

/** Tells whether the draft of a published snippet differs from what pages show. */
export const isChanged = ({ draft, published, publishedContent }: Snippet): boolean =>
  published !== null && draft !== publishedContent;

function nameField(value = ''): Html {
  const input = html`<input id="name" name="name" value="${value}" required aria-describedby="name-hint">`;
  return field('name', 'Name', input, `At most ${limits.name} characters.`);
}

/** The list of snippets, with a search and a form to add one. */
export function listPart(
  snippets: readonly Snippet[],
  search: string,
  publisher: Publisher | undefined,
  newName?: string,
): Html {
  return html`<h1>Snippets</h1>
      <form class="row" role="search">
        ${field('search', 'Search names, texts and ids', html`<input id="search" name="search" type="search" value="${search}">`)}
        <button>Search</button>
      </form>
      ${
        snippets.length === 0
          ? html`<p class="card">${search === '' ? 'There is no snippet yet.' : 'No snippet matches.'}</p>`
          : table(
              snippets,
              {
                Id: ({ id }) => id,
                Name: ({ id, name }) => html`<a href="/snippets/${id}">${name}</a>`,
                Published: (snippet) => html`${versionOf(snippet)} ${isChanged(snippet) && changed}`,
                'Shown on': ({ id }) => countOf(publisher?.shown(id)),
              },
              html`<caption class="hint">${snippets.length} ${snippets.length === 1 ? 'snippet' : 'snippets'}</caption>`,
            )
      }
      <h2>Add a snippet</h2>
      <form class="row card" method="post" action="/snippets">
        ${nameField(newName)}
        <button>Add</button>
      </form>`;
}

/** The URL to edit a snippet, coming from a page of the site. */
export function addressOf(id: number, page: string, flag?: 'published' | 'saved'): string {
  const query = new URLSearchParams();
  if (page !== '/') query.set('page', page);
  if (flag !== undefined) query.set(flag, '');
  return `/snippets/${id}${query.size > 0 ? `?${query}` : ''}`;
}

type Shown = WebsiteEnvironment['Variables'];

/** Unsaved text, and the notice about someone else's draft. */
export interface Unsaved {
  unsaved?: SnippetForm;
  conflict?: Html;
}

/** The editor of a snippet, with its preview, its places and its versions. */
export async function editPart(shown: Shown, { unsaved, conflict }: Unsaved): Promise<Html> {
  const { snippet, versions, page, publisher } = shown;
  const { id, published } = snippet;
  const { name, draft, sample } = unsaved ?? snippet;
  const preview = await previewOf({ ...snippet, name, draft, sample }, publisher);
  return html`<div class="bar">
        <div class="grow">
          <h1>${name}</h1>
          <p class="hint">Snippet ${id} · ${versionOf(snippet)}${published !== null && by(snippet.publishedBy)}
            <span data-changed${isChanged(snippet) || html` hidden`}>${changed} <a href="/snippets/${id}/discard">Discard draft…</a></span>${wayToPage(shown)}</p>
        </div>
        <span class="hint" role="status" data-mark></span>
        <button class="quiet" form="edit" name="action" value="save">Save the draft</button>
        <button form="edit" name="action" value="publish">Publish</button>
      </div>
      <form class="card two" id="edit" method="post" action="${addressOf(id, page)}" autocomplete="off" data-draft="/snippets/${id}/draft?page=${encodeURIComponent(page)}"${unsaved && html` data-unsaved`}>
        <input type="hidden" name="base" value="${unsaved?.base || revisionOf(snippet)}">
        <div class="fields">
          ${nameField(name)}
          ${draftField({ id, draft, sample }, preview.findings, publisher)}
          ${sampleFields({ draft, sample })}
          <div class="card notice bad" role="alert" data-conflict${conflict === undefined && html` hidden`}>${conflict}</div>
          <div class="row">
            <button class="quiet" name="action" value="preview">Preview</button>
            ${
              snippet.discarded !== null &&
              html`<button class="quiet" formaction="/snippets/${id}/restore" formnovalidate>Bring the discarded draft back</button>`
            }
          </div>
          ${diffPart(`What changed since version ${published}`, snippet.publishedContent ?? snippet.draft, draft)}
        </div>
        ${await previewPart(name, preview, { id, draft, sample }, shown)}
      </form>
      ${insertDialogs(publisher)}
      ${editorScripts}
      <h2>Embed it</h2>
      <div class="card">
        ${embedPart('component', 'In .astro and .mdx files', preview.embeds.component)}
        ${embedPart('element', 'In Markdown, HTML and UI frameworks', preview.embeds.element)}
      </div>
      ${placesPart(snippet, publisher)}
      ${versionsPart(snippet, versions)}
      <h2>Remove it</h2>
      <p class="row">
        ${published !== null && html`<a class="button danger" href="/snippets/${id}/unpublish">Unpublish…</a>`}
        <a class="button danger" href="/snippets/${id}/delete">Delete…</a>
      </p>`;
}

/** A link to the page that the editor came from, or to one that shows the snippet. */
function wayToPage({ snippet, page, publisher }: Shown): Html | '' {
  const pages = publisher?.shown(snippet.id)?.pages.map(pathOfPage) ?? [];
  const path = pages.includes(page) ? page : pages[0];
  return publisher && path !== undefined
    ? html` · <a href="${publisher.siteUrl}${path}">Open ${path === '/' ? 'the home page' : path}</a>`
    : '';
}

function embedPart(form: string, label: string, text: string): Html {
  return html`<p class="hint">${label}</p>
        <div class="row"><code class="grow" id="embed-${form}">${text}</code>${copyButton(`embed-${form}`, label)}</div>`;
}

function placesPart({ id }: Snippet, publisher: Publisher | undefined): Html | '' {
  if (publisher === undefined) return '';
  const places = publisher.shown(id);
  return html`<h2>Where it shows</h2>
      <div class="card">${
        places === undefined
          ? html`<p>Not known: the site has no record of a build.</p>`
          : html`<p>The site shows it on ${countOf(places)}, as of its last build or refresh.</p>
        ${warningsList(places)}${placesList(places, publisher)}`
      }</div>`;
}

function versionsPart({ id, published }: Snippet, versions: readonly SnippetVersion[]): Html {
  if (versions.length === 0)
    return html`<p class="card">It was never published: no page can show it yet.</p>`;
  return html`<h2>Versions</h2>
      ${table(versions, {
        Version: ({ number }) =>
          html`<a href="/snippets/${id}/versions/${number}"><span class="hidden">Version </span>${number}</a>`,
        Published: ({ publishedAt }) => time(publishedAt),
        By: ({ publishedBy }) => publishedBy ?? '–',
        Content: ({ content }) =>
          html`<code>${content.length > 80 ? `${content.slice(0, 79)}…` : content}</code>`,
        Change: ({ number }) => (number === published ? 'served now' : rollBackLink(id, number)),
      })}`;
}

function rollBackLink(id: number, number: number): Html {
  return html`<a class="button quiet" href="/snippets/${id}/versions/${number}/roll-back">Roll back to ${number}…</a>`;
}

function diffPart(title: string, before: string, after: string): Html | '' {
  if (before === after) return '';
  // Comparing takes quadratic time in the number of differences.
  const parts = diffWordsWithSpace(before, after, { maxEditLength: 1_000 }) ?? [
    { value: before, removed: true, added: false },
    { value: after, removed: false, added: true },
  ];
  const shown = parts.map(({ value, added, removed }) =>
    added ? html`<ins>${value}</ins>` : removed ? html`<del>${value}</del>` : value,
  );
  return html`<details><summary>${title}</summary><pre tabindex="0">${shown}</pre></details>`;
}

/** A version with its content and its preview. */
export async function versionPart(shown: Shown, version: SnippetVersion): Promise<Html> {
  const { snippet, versions } = shown;
  const { number, content, publishedAt, publishedBy } = version;
  const { id, name, published, draft } = snippet;
  const before = versions.find((one) => one.number === number - 1);
  const previewed = { ...snippet, draft: content };
  const { note } = await previewOf(previewed, shown.publisher);
  return html`<p><a href="/snippets/${id}">Back to ${name}</a></p>
      <h1>${name}, version ${number}</h1>
      <p class="hint">Published ${time(publishedAt)}${by(publishedBy)}. ${
        number === published ? html`<span class="badge good">served now</span>` : ''
      }</p>
      <div class="two">
        <div>
          <h2>Content</h2>
          <pre tabindex="0" id="version">${content}</pre>
          <p class="row">${copyButton('version')} ${number === published ? '' : rollBackLink(id, number)}</p>
          ${before && diffPart(`What changed since version ${before.number}`, before.content, content)}
          ${diffPart('What changed from here to the draft', content, draft)}
        </div>
        ${await previewPart(`version ${number}`, { note }, previewed, shown)}
      </div>`;
}

/** Says what breaks if a snippet is no longer served. */
export function consequence({ id, published }: Snippet, publisher: Publisher | undefined): Html {
  const places = publisher?.shown(id);
  if (publisher === undefined || places === undefined) {
    return html`<p>Which pages show it is not known: there is no record of a build. ${
      published === null
        ? 'It is not published now.'
        : 'A site that embeds it fails at its next build, and stays as it is until then.'
    }</p>`;
  }
  const optional = publisher.facts()?.optional.get(id) ?? [];
  const required = { ...places, pages: places.pages.filter((page) => !optional.includes(page)) };
  const spared = { ...places, pages: places.pages.filter((page) => optional.includes(page)), entries: [] };
  const isOn = ({ pages, entries }: ShownPlaces) => pages.length + entries.length > 0;
  if (!isOn(places)) return html`<p>No page of the site shows it, as of its last build.</p>`;
  return html`${
    isOn(required) &&
    html`<p><strong>The site shows it on ${countOf(required)}.</strong> Its text stays there for now, but the next build fails.
        Until the embeds are taken out, or are <code>optional</code>, the site can be neither built nor refreshed: nothing else
        that is published reaches it either.</p>
        ${placesList(required, publisher)}`
  }${
    isOn(spared) &&
    html`<p><strong>It is optional on ${countOf(spared)}.</strong> With the next update, they show what is written inside the
        embed instead, or nothing.</p>
        ${placesList(spared, publisher)}`
  }`;
}
