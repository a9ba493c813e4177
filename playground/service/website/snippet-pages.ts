import { Hono } from 'hono';
import { html } from 'hono/html';
import { limits } from '../limits.ts';
import { parseParams } from '../schemas.ts';
import type { NewSnippet, Snippet } from '../store/snippets.ts';
import { renderTemplate, TemplateError } from '../template.ts';
import type { WebsiteEnvironment, WebsiteParts } from './environment.ts';
import { type Html, layout, time } from './layout.ts';
import { publicationNotice } from './publication.ts';

/** List, search, create, edit, preview, publish, roll back. */
export function snippetPages({ store, publisher }: WebsiteParts): Hono<WebsiteEnvironment> {
  const pages = new Hono<WebsiteEnvironment>();
  const { snippets } = store;

  pages.get('/snippets', (context) => {
    const { organization } = context.var;
    const search = context.req.query('search')?.trim() ?? '';
    const found = snippets.list(organization.id, search);
    return context.html(
      layout({ title: 'Snippets', section: '/snippets', organization, body: listPage(found, search) }),
    );
  });

  pages.post('/snippets', async (context) => {
    const { organization } = context.var;
    const { name } = await context.req.parseBody();
    const title = typeof name === 'string' && name.trim() !== '' ? name.trim() : 'New snippet';
    const flaw = tooLong({ name: title });
    if (flaw !== undefined) {
      const body = listPage(snippets.list(organization.id), '', flaw);
      return context.html(layout({ title: 'Snippets', section: '/snippets', organization, body }), 422);
    }
    const { id } = snippets.create(organization.id, { name: title });
    return context.redirect(`/snippets/${id}`, 303);
  });

  pages.get('/snippets/:id{[1-9][0-9]{0,14}}', async (context) => {
    const { organization } = context.var;
    const snippet = snippets.get(organization.id, Number(context.req.param('id')));
    if (snippet === undefined) return context.notFound();
    const page = pathOf(context.req.query('page'));
    const published = context.req.query('published') !== undefined;
    const latest = published ? publisher?.latest() : undefined;
    return context.html(
      layout({
        title: snippet.name,
        organization,
        section: '/snippets',
        script: true,
        ...(latest?.state === 'running' ? { reloadAfter: 1 } : {}),
        body: html`${latest && publisher ? publicationNotice(latest, publisher.siteUrl, page) : ''}
        ${await editPage(snippet, page)}
        ${versionsPart(snippet, snippets.versions(organization.id, snippet.id))}`,
      }),
    );
  });

  pages.post('/snippets/:id{[1-9][0-9]{0,14}}', async (context) => {
    const { organization } = context.var;
    const id = Number(context.req.param('id'));
    const form = formOf(await context.req.parseBody());
    const page = pathOf(context.req.query('page'));
    const snippet = snippets.get(organization.id, id);
    if (snippet === undefined) return context.notFound();
    const edited: Snippet = { ...snippet, ...form };
    const preview = await previewOf(edited);
    if (form.action === 'preview' || 'error' in preview) {
      return context.html(
        layout({
          title: edited.name,
          organization,
          section: '/snippets',
          script: true,
          body: await editPage(edited, page),
        }),
        'error' in preview ? 422 : 200,
      );
    }
    snippets.save(organization.id, id, edited);
    if (form.action !== 'publish') return context.redirect(addressOf(id, page), 303);
    snippets.publish(organization.id, id);
    publisher?.publish();
    return context.redirect(addressOf(id, page, 'published'), 303);
  });

  pages.post('/snippets/:id{[1-9][0-9]{0,14}}/preview', async (context) => {
    const { organization } = context.var;
    const snippet = snippets.get(organization.id, Number(context.req.param('id')));
    if (snippet === undefined) return context.notFound();
    return context.json(await previewOf({ ...snippet, ...formOf(await context.req.parseBody()) }));
  });

  pages.post('/snippets/:id{[1-9][0-9]{0,14}}/roll-back', async (context) => {
    const { organization } = context.var;
    const id = Number(context.req.param('id'));
    const { number } = await context.req.parseBody();
    const version = snippets.rollBack(organization.id, id, Number(number));
    if (version === undefined) return context.notFound();
    publisher?.publish();
    return context.redirect(addressOf(id, '/', 'published'), 303);
  });

  return pages;
}

type Form = Pick<Snippet, 'name' | 'draft' | 'sample'> & { action: string };

function formOf(body: Record<string, unknown>): Form {
  const text = (name: string) => (typeof body[name] === 'string' ? (body[name] as string) : '');
  return {
    name: text('name').trim() || 'Unnamed',
    // Forms send CR LF; what was typed were lines.
    draft: text('draft').replaceAll('\r\n', '\n'),
    sample: text('sample').trim() || '{}',
    action: text('action'),
  };
}

/** A path of the site, to lead back to. Nothing that could be another host. */
function pathOf(page: string | undefined): string {
  return page !== undefined && /^\/(?![/\\])/.test(page) ? page : '/';
}

function addressOf(id: number, page: string, flag?: 'published'): string {
  const query = new URLSearchParams();
  if (page !== '/') query.set('page', page);
  if (flag !== undefined) query.set(flag, '');
  return `/snippets/${id}${query.size > 0 ? `?${query}` : ''}`;
}

/** Says which text is too long, and how long it may be. */
function tooLong({ name, draft = '', sample = '' }: NewSnippet): string | undefined {
  if (name.length > limits.name) return `The name has more than ${limits.name} characters.`;
  if (draft.length > limits.content) return `The content has more than ${limits.content} characters.`;
  if (sample.length > limits.sample) return `The sample params have more than ${limits.sample} characters.`;
  return undefined;
}

async function previewOf(snippet: Snippet): Promise<{ content: string } | { error: string }> {
  const { draft, sample } = snippet;
  const flaw = tooLong(snippet);
  if (flaw !== undefined) return { error: flaw };
  const params = parseParams(sample);
  if (params === undefined) return { error: 'The sample params are not a JSON object.' };
  try {
    return { content: await renderTemplate(draft, params) };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { error: error.message };
  }
}

function stateOf({ published, publishedAt }: Snippet): Html {
  return published === null ? html`draft` : html`version ${published}, ${time(publishedAt)}`;
}

function listPage(snippets: readonly Snippet[], search: string, flaw?: string): Html {
  return html`<h1>Snippets</h1>
      <form class="row" role="search">
        <div class="grow">
          <label for="search">Search by name or id</label>
          <input id="search" name="search" type="search" value="${search}">
        </div>
        <button>Search</button>
      </form>
      ${
        snippets.length === 0
          ? html`<p class="card">${search === '' ? 'There is no snippet yet.' : 'No snippet matches.'}</p>`
          : html`<div class="scroll card" tabindex="0" role="region" aria-label="Snippets"><table>
        <caption class="hint">${snippets.length} ${snippets.length === 1 ? 'snippet' : 'snippets'}</caption>
        <thead><tr><th scope="col">Id</th><th scope="col">Name</th><th scope="col">Published</th></tr></thead>
        <tbody>
          ${snippets.map(
            (snippet) => html`<tr>
            <td>${snippet.id}</td>
            <td><a href="/snippets/${snippet.id}">${snippet.name}</a></td>
            <td>${stateOf(snippet)}</td>
          </tr>`,
          )}
        </tbody>
      </table></div>`
      }
      <h2>Add a snippet</h2>
      ${flaw === undefined ? '' : html`<p class="card notice bad" role="alert">${flaw}</p>`}
      <form class="row card" method="post">
        <div class="grow">
          <label for="name">Name</label>
          <p class="hint" id="name-hint">At most ${limits.name} characters.</p>
          <input id="name" name="name" required maxlength="${limits.name}" aria-describedby="name-hint">
        </div>
        <button>Add</button>
      </form>`;
}

async function editPage(snippet: Snippet, page: string): Promise<Html> {
  const preview = await previewOf(snippet);
  const address = addressOf(snippet.id, page);
  return html`<h1>${snippet.name}</h1>
      <p class="hint">Snippet ${snippet.id} · ${stateOf(snippet)} · in a page: <code>&lt;Snippet id={${snippet.id}} /&gt;</code></p>
      <form class="two" method="post" action="${address}" data-preview="/snippets/${snippet.id}/preview">
        <div class="fields">
          <div>
            <label for="name">Name</label>
            <p class="hint" id="name-hint">At most ${limits.name} characters.</p>
            <input id="name" name="name" value="${snippet.name}" required maxlength="${limits.name}" aria-describedby="name-hint">
          </div>
          <div>
            <label for="draft">Content</label>
            <p class="hint" id="draft-hint">HTML, at most ${limits.content} characters. A variable is written {{ plan }}, and its value is escaped.</p>
            <textarea id="draft" name="draft" spellcheck="false" maxlength="${limits.content}" aria-describedby="draft-hint">
${snippet.draft}</textarea>
          </div>
          <div>
            <label for="sample">Sample params</label>
            <p class="hint" id="sample-hint">A JSON object to preview with, at most ${limits.sample} characters. Pages pass their own.</p>
            <textarea class="small" id="sample" name="sample" spellcheck="false" maxlength="${limits.sample}" aria-describedby="sample-hint">
${snippet.sample}</textarea>
          </div>
          <div class="row">
            <button name="action" value="publish">Publish</button>
            <button class="quiet" name="action" value="save">Save the draft</button>
            <button class="quiet" name="action" value="preview">Preview</button>
          </div>
        </div>
        <div>
          <h2 id="preview">Preview</h2>
          <p class="status bad" role="status" data-preview-flaw>${'error' in preview ? preview.error : ''}</p>
          <iframe data-preview sandbox title="Preview of ${snippet.name}" srcdoc="${'error' in preview ? '' : preview.content}"></iframe>
        </div>
      </form>`;
}

function versionsPart(
  { id, published }: Snippet,
  versions: readonly { number: number; content: string; publishedAt: string }[],
): Html {
  if (versions.length === 0)
    return html`<p class="card">It was never published: no page can show it yet.</p>`;
  return html`<h2>Versions</h2>
      <div class="scroll card" tabindex="0" role="region" aria-label="Versions"><table>
        <thead><tr><th scope="col">Version</th><th scope="col">Published</th><th scope="col">Content</th><th scope="col">Change</th></tr></thead>
        <tbody>
          ${versions.map(
            ({ number, content, publishedAt }) => html`<tr>
            <td>${number}</td>
            <td>${time(publishedAt)}</td>
            <td><code>${content.length > 80 ? `${content.slice(0, 79)}…` : content}</code></td>
            <td>${
              number === published
                ? html`served now`
                : html`<form method="post" action="/snippets/${id}/roll-back">
                <input type="hidden" name="number" value="${number}">
                <button class="quiet">Roll back to ${number}</button>
              </form>`
            }</td>
          </tr>`,
          )}
        </tbody>
      </table></div>`;
}
