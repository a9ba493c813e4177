import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import type { Snippet } from '../store/snippets.ts';
import type { WebsiteEnvironment, WebsiteParts } from './environment.ts';
import { type Html, layout } from './layout.ts';
import { pathOf, publicationRegion } from './publication.ts';
import { formOf, previewOf, revisionOf, type SnippetForm, tooLong } from './snippet-form.ts';
import { deleteQuestion, discardQuestion, unpublishQuestion } from './snippet-questions.ts';
import {
  editPart,
  listPart,
  placesPart,
  removePart,
  type Unsaved,
  versionPart,
  versionsPart,
} from './snippet-views.ts';

const oneSnippet = '/snippets/:id{[1-9][0-9]{0,14}}';
type PageContext = Context<WebsiteEnvironment>;

/** List, search, create, edit, preview, publish, discard, roll back, unpublish, delete. */
export function snippetPages({ store, publisher, webhooks }: WebsiteParts): Hono<WebsiteEnvironment> {
  const pages = new Hono<WebsiteEnvironment>();
  const { snippets } = store;

  function found(context: PageContext): Snippet | undefined {
    return snippets.get(context.var.organization.id, Number(context.req.param('id')));
  }

  function show(context: PageContext, title: string, body: Html): Html {
    return layout({ title, section: '/snippets', organization: context.var.organization, body });
  }

  function showList(context: PageContext, flaw?: { name: string; message: string }): Html {
    const { id } = context.var.organization;
    const search = context.req.query('search')?.trim() ?? '';
    const deleted = Number(context.req.query('deleted')) || undefined;
    const body = listPart({ snippets: snippets.list(id, search), search, publisher, deleted, flaw });
    return show(context, 'Snippets', body);
  }

  /** The page of a snippet; `notice` says why something was not saved. */
  async function showSnippet(
    context: PageContext,
    snippet: Snippet,
    { unsaved, notice = '' }: { unsaved?: Unsaved; notice?: Html | '' } = {},
  ): Promise<Html> {
    const { organization } = context.var;
    const page = pathOf(context.req.query('page'));
    const isFlagged = context.req.query('published') !== undefined;
    const isWorth = isFlagged || publisher?.latest()?.state !== 'done';
    return layout({
      title: unsaved?.form.name ?? snippet.name,
      organization,
      section: '/snippets',
      scripts: ['copy', 'draft', 'preview', 'publication'],
      body: html`${notice}
        ${context.req.query('saved') === undefined || notice !== '' ? '' : savedNotice(snippet)}
        ${isWorth ? publicationRegion(publisher, { page, id: snippet.id }) : ''}
        ${await editPart({ snippet, unsaved, publisher, address: addressOf(snippet.id, page) })}
        ${placesPart(snippet, publisher)}
        ${versionsPart(snippet, snippets.versions(organization.id, snippet.id))}
        ${removePart(snippet)}`,
    });
  }

  pages.get('/snippets', (context) => context.html(showList(context)));

  pages.post('/snippets', async (context) => {
    const { organization } = context.var;
    const { name } = await context.req.parseBody();
    const title = typeof name === 'string' && name.trim() !== '' ? name.trim() : 'New snippet';
    const message = tooLong({ name: title });
    if (message !== undefined) return context.html(showList(context, { name: title, message }), 422);
    const { id } = snippets.create(organization.id, { name: title });
    return context.redirect(`/snippets/${id}`, 303);
  });

  pages.get(oneSnippet, async (context) => {
    const snippet = found(context);
    return snippet === undefined ? context.notFound() : context.html(await showSnippet(context, snippet));
  });

  pages.post(oneSnippet, async (context) => {
    const { organization } = context.var;
    const form = formOf(await context.req.parseBody());
    const page = pathOf(context.req.query('page'));
    const snippet = found(context);
    if (snippet === undefined) return context.notFound();
    const { id } = snippet;
    const edited = { ...snippet, ...form };
    const preview = await previewOf(edited);
    const unsaved: Unsaved = { form, reason: 'flaw' };
    const isPublished = form.action === 'publish' || form.action === 'publish-empty';
    const isRefused = tooLong(form) !== undefined || (isPublished && 'error' in preview);
    if (form.action === 'preview' || isRefused) {
      return context.html(await showSnippet(context, snippet, { unsaved }), 'error' in preview ? 422 : 200);
    }
    if (isChangedSince(snippet, form)) {
      // Saving once more is then the answer.
      const answer = { form: { ...form, base: revisionOf(snippet) }, reason: 'conflict' } as const;
      return context.html(
        await showSnippet(context, snippet, { unsaved: answer, notice: conflictNotice(snippet) }),
        409,
      );
    }
    if (form.action === 'publish' && 'content' in preview && preview.content.trim() === '') {
      return context.html(
        await showSnippet(context, snippet, { unsaved, notice: emptyNotice(snippet) }),
        422,
      );
    }
    snippets.save(organization.id, id, edited);
    if (!isPublished) return context.redirect(addressOf(id, page, 'saved'), 303);
    snippets.publish(organization.id, id);
    webhooks.send(organization.id, 'snippet.published', id);
    publisher?.publish();
    return context.redirect(addressOf(id, page, 'published'), 303);
  });

  pages.post(`${oneSnippet}/draft`, async (context) => {
    const form = formOf(await context.req.parseBody());
    const snippet = found(context);
    if (snippet === undefined) return context.notFound();
    const error = tooLong(form);
    if (error !== undefined) return context.json({ error }, 422);
    if (isChangedSince(snippet, form)) {
      return context.json({ error: 'the draft was changed elsewhere. “Save the draft” shows both.' }, 409);
    }
    snippets.save(context.var.organization.id, snippet.id, form);
    return context.json({ base: revisionOf(form) });
  });

  pages.get(`${oneSnippet}/discard`, (context) => {
    const snippet = found(context);
    if (snippet === undefined || snippet.published === null) return context.notFound();
    return context.html(show(context, `Discard the draft of ${snippet.name}`, discardQuestion(snippet)));
  });

  pages.post(`${oneSnippet}/discard`, async (context) => {
    const snippet = found(context);
    if (snippet === undefined || snippet.publishedContent === null) return context.notFound();
    const { confirm } = await context.req.parseBody();
    if (confirm !== 'yes') return context.redirect(`/snippets/${snippet.id}/discard`, 303);
    snippets.save(context.var.organization.id, snippet.id, { ...snippet, draft: snippet.publishedContent });
    return context.redirect(`/snippets/${snippet.id}`, 303);
  });

  pages.post(`${oneSnippet}/preview`, async (context) => {
    const snippet = found(context);
    if (snippet === undefined) return context.notFound();
    return context.json(await previewOf({ ...snippet, ...formOf(await context.req.parseBody()) }));
  });

  pages.get(`${oneSnippet}/versions/:number{[1-9][0-9]{0,14}}`, async (context) => {
    const snippet = found(context);
    const number = Number(context.req.param('number'));
    const version = snippets
      .versions(context.var.organization.id, snippet?.id ?? 0)
      .find((one) => one.number === number);
    if (snippet === undefined || version === undefined) return context.notFound();
    const body = await versionPart(snippet, version, publisher);
    return context.html(
      layout({
        title: `${snippet.name}, version ${number}`,
        section: '/snippets',
        organization: context.var.organization,
        scripts: ['copy'],
        body,
      }),
    );
  });

  pages.post(`${oneSnippet}/roll-back`, async (context) => {
    const { organization } = context.var;
    const id = Number(context.req.param('id'));
    const { number } = await context.req.parseBody();
    const version = snippets.rollBack(organization.id, id, Number(number));
    if (version === undefined) return context.notFound();
    webhooks.send(organization.id, 'snippet.published', id);
    publisher?.publish();
    return context.redirect(addressOf(id, '/', 'published'), 303);
  });

  pages.get(`${oneSnippet}/unpublish`, (context) => {
    const snippet = found(context);
    if (snippet === undefined || snippet.published === null) return context.notFound();
    return context.html(show(context, `Unpublish ${snippet.name}`, unpublishQuestion(snippet, publisher)));
  });

  pages.post(`${oneSnippet}/unpublish`, async (context) => {
    const snippet = found(context);
    if (snippet === undefined) return context.notFound();
    const { confirm } = await context.req.parseBody();
    if (confirm !== 'yes') return context.redirect(`/snippets/${snippet.id}/unpublish`, 303);
    const { organization } = context.var;
    if (snippets.unpublish(organization.id, snippet.id)) {
      webhooks.send(organization.id, 'snippet.unpublished', snippet.id);
    }
    return context.redirect(`/snippets/${snippet.id}`, 303);
  });

  pages.get(`${oneSnippet}/delete`, (context) => {
    const snippet = found(context);
    if (snippet === undefined) return context.notFound();
    return context.html(show(context, `Delete ${snippet.name}`, deleteQuestion(snippet, publisher)));
  });

  pages.post(`${oneSnippet}/delete`, async (context) => {
    const snippet = found(context);
    if (snippet === undefined) return context.notFound();
    const { confirm } = await context.req.parseBody();
    if (confirm !== 'yes') return context.redirect(`/snippets/${snippet.id}/delete`, 303);
    const { organization } = context.var;
    if (snippets.delete(organization.id, snippet.id)) {
      webhooks.send(organization.id, 'snippet.deleted', snippet.id);
    }
    return context.redirect(`/snippets?deleted=${snippet.id}`, 303);
  });

  return pages;
}

/** Whether another has changed the draft since this form was opened. */
function isChangedSince(snippet: Snippet, form: SnippetForm): boolean {
  return form.base !== '' && form.base !== revisionOf(snippet);
}

function addressOf(id: number, page: string, flag?: 'published' | 'saved'): string {
  const query = new URLSearchParams();
  if (page !== '/') query.set('page', page);
  if (flag !== undefined) query.set(flag, '');
  return `/snippets/${id}${query.size > 0 ? `?${query}` : ''}`;
}

function savedNotice({ draft, published, publishedContent }: Snippet): Html {
  return html`<p class="card notice good" role="status"><strong>The draft is saved.</strong> ${
    published === null
      ? 'It is not published: no page can show it yet.'
      : draft === publishedContent
        ? `It is the same as version ${published}, which is published.`
        : `Pages show version ${published} until you publish.`
  }</p>`;
}

function conflictNotice({ draft }: Snippet): Html {
  return html`<div class="card notice bad" role="alert">
          <p><strong>Not saved: the draft was changed elsewhere since you opened it.</strong> What you typed is below. Saving once more replaces the other draft.</p>
          <details><summary>The other draft</summary><pre tabindex="0">${draft}</pre></details>
        </div>`;
}

function emptyNotice({ published }: Snippet): Html {
  return html`<div class="card notice bad" role="alert">
          <p><strong>Not published: the content is empty.</strong> Pages would show nothing in its place.${
            published === null ? '' : ` They still show version ${published}.`
          }</p>
          <button class="danger" form="edit" name="action" value="publish-empty">Publish it empty</button>
        </div>`;
}
