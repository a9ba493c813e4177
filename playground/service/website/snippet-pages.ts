import type { Context } from 'hono';
import { html } from 'hono/html';
import type { Snippet } from '../store/snippets.ts';
import type { EventType } from '../store/webhooks.ts';
import { breakingNotice, findingsList } from './check-notices.ts';
import type { Website, WebsiteEnvironment, WebsiteParts } from './environment.ts';
import { by } from './layout.ts';
import type { Html } from './page-facts.ts';
import { pathOf } from './publication.ts';
import { ask } from './questions.ts';
import { valueFields } from './sample-field.ts';
import { formOf, previewOf, revisionOf, type SnippetForm, tooLong } from './snippet-form.ts';
import { previewFrame } from './snippet-preview.ts';
import {
  addressOf,
  consequence,
  editPart,
  isChanged,
  listPart,
  type Unsaved,
  versionPart,
} from './snippet-views.ts';

const oneSnippet = '/snippets/:id{[1-9][0-9]{0,14}}';
const oneVersion = ':number{[1-9][0-9]{0,14}}';
type PageContext = Context<WebsiteEnvironment>;

/**
 * The pages to list, search, create, edit, preview, publish, discard, roll back, unpublish and delete
 * snippets.
 */
export function snippetPages(pages: Website, { store, webhooks }: WebsiteParts): void {
  const { snippets } = store;

  pages.use(`${oneSnippet}/*`, async (context, next) => {
    const { organization } = context.var;
    const snippet = snippets.get(organization.id, Number(context.req.param('id')));
    if (snippet === undefined) return context.notFound();
    context.set('snippet', snippet);
    context.set('versions', snippets.versions(organization.id, snippet.id));
    context.set('page', pathOf(context.req.query('page')));
    context.set('publishedContent', (id) => snippets.published(organization.id, id)?.content);
    return next();
  });

  /** @param refused the refused name of a new snippet. */
  function showList(context: PageContext, notice?: Html, refused?: string) {
    const { organization, publisher } = context.var;
    const search = context.req.query('search')?.trim() ?? '';
    const list = listPart(snippets.list(organization.id, search), search, publisher, refused);
    return context.render(html`${notice}${list}`, { title: 'Snippets' });
  }

  /** The page of a snippet. `notice` says why something was not saved. */
  async function showSnippet(context: PageContext, { notice, ...typed }: Unsaved & { notice?: Html } = {}) {
    const { publisher, snippet, page } = context.var;
    const isFlagged = context.req.query('published') !== undefined;
    const isWorth = isFlagged || publisher?.latest()?.state !== 'done';
    const isSaved = context.req.query('saved') !== undefined && notice === undefined;
    const body = html`${notice}
        ${isSaved ? savedNotice(snippet) : ''}
        ${await editPart(context.var, typed)}`;
    return context.render(body, {
      title: typed.unsaved?.name ?? snippet.name,
      publication: isWorth ? { page, id: snippet.id } : undefined,
    });
  }

  /** Calls the webhook and updates the site. */
  function announce({ organization, publisher }: PageContext['var'], event: EventType, id: number): void {
    webhooks.send(organization.id, event, id);
    publisher?.publish();
  }

  pages.get('/snippets', (context) => {
    const id = Number(context.req.query('deleted'));
    const notice = html`<p class="card notice good" role="status">Snippet ${id} is deleted.</p>`;
    return showList(context, id > 0 ? notice : undefined);
  });

  pages.post('/snippets', async (context) => {
    const { organization } = context.var;
    const { name } = await context.req.parseBody();
    const title = typeof name === 'string' && name.trim() !== '' ? name.trim() : 'New snippet';
    const flaw = tooLong({ name: title });
    if (flaw !== undefined) {
      context.status(422);
      return showList(context, html`<p class="card notice bad" role="alert">${flaw}</p>`, title);
    }
    const { id } = snippets.create(organization.id, { name: title });
    return context.redirect(`/snippets/${id}`, 303);
  });

  pages.get(oneSnippet, (context) => showSnippet(context));

  pages.post(oneSnippet, async (context) => {
    const { organization, person, publisher, snippet, page } = context.var;
    const form = formOf(await context.req.parseBody());
    const { id } = snippet;
    const { content, error, findings } = await previewOf({ ...snippet, ...form }, publisher);
    const isPublished = form.action.startsWith('publish');
    // Whoever replaces another draft was not asked about the content yet.
    const isUnconfirmed = form.action === 'publish' || form.action === 'publish-replacing';
    const answer = (status: 200 | 409 | 422, why: { notice?: Html; conflict?: Html } = {}) => {
      context.status(status);
      return showSnippet(context, { unsaved: form, ...why });
    };
    if (form.action === 'preview') return answer(error === undefined ? 200 : 422);
    const flaw = isPublished ? error : tooLong(form);
    if (flaw !== undefined) {
      return answer(422, { notice: refusedNotice(isPublished ? 'published' : 'saved', flaw) });
    }
    if (isChangedSince(snippet, form)) {
      const notice = isPublished ? replacingNotice(snippet) : undefined;
      return answer(409, { conflict: conflictNotice(snippet), ...(notice && { notice }) });
    }
    // A replacement that was confirmed is not asked for again with the next question.
    form.base = revisionOf(snippet);
    if (isUnconfirmed && content?.trim() === '') {
      return answer(422, { notice: emptyNotice(snippet) });
    }
    if (isUnconfirmed && findings.some(({ severity }) => severity === 'breaks')) {
      return answer(422, { notice: breakingNotice(findings) });
    }
    snippets.save(organization.id, id, form, person);
    if (!isPublished) return context.redirect(addressOf(id, page, 'saved'), 303);
    snippets.publish(organization.id, id, person);
    announce(context.var, 'snippet.published', id);
    return context.redirect(addressOf(id, page, 'published'), 303);
  });

  pages.post(`${oneSnippet}/draft`, async (context) => {
    const { organization, person, publisher, snippet } = context.var;
    const form = formOf(await context.req.parseBody());
    const rendered = await previewOf({ ...snippet, ...form }, publisher);
    const { document } = await previewFrame({ ...snippet, ...form }, context.var);
    const values = await valueFields(form);
    const checks = await findingsList(rendered.findings);
    const preview = { ...rendered, document, checks, values, sample: form.sample };
    const failure = tooLong(form);
    if (failure !== undefined) return context.json({ ...preview, failure }, 422);
    if (isChangedSince(snippet, form)) {
      const conflict = await conflictNotice(snippet);
      return context.json({ ...preview, conflict, failure: 'the draft was changed elsewhere.' }, 409);
    }
    const base = revisionOf(form);
    if (base !== revisionOf(snippet)) snippets.save(organization.id, snippet.id, form, person);
    return context.json({ ...preview, base, changed: isChanged({ ...snippet, draft: form.draft }) });
  });

  pages.get(`${oneSnippet}/versions/${oneVersion}`, async (context) => {
    const { snippet, versions } = context.var;
    const number = Number(context.req.param('number'));
    const version = versions.find((one) => one.number === number);
    if (version === undefined) return context.notFound();
    const body = await versionPart(context.var, version);
    return context.render(body, { title: `${snippet.name}, version ${number}` });
  });

  ask(pages, `${oneSnippet}/discard`, ({ var: { organization, person, snippet } }) => {
    const { id, published, publishedContent, draft, editedBy } = snippet;
    if (publishedContent === null || publishedContent === draft) return undefined;
    return {
      title: `Discard the draft of “${snippet.name}”?`,
      body: html`<p>The draft becomes the content of version ${published} again, which pages show. What ${
        editedBy === null || editedBy === person ? 'was' : html`<strong>${editedBy}</strong> has`
      } typed since then can be brought back until something is published.</p>`,
      yes: 'Discard it',
      back: `/snippets/${id}`,
      act: () => snippets.discard(organization.id, id, person),
    };
  });

  pages.post(`${oneSnippet}/restore`, ({ var: { organization, person, snippet }, redirect }) => {
    snippets.restore(organization.id, snippet.id, person);
    return redirect(`/snippets/${snippet.id}`, 303);
  });

  ask(pages, `${oneSnippet}/versions/${oneVersion}/roll-back`, (context) => {
    const { organization, person, snippet, versions } = context.var;
    const { id, name, published } = snippet;
    const number = Number(context.req.param('number'));
    const [newest] = versions;
    const isThere = versions.some((version) => version.number === number);
    if (newest === undefined || number === published || !isThere) return undefined;
    return {
      title: `Roll back “${name}” to version ${number}?`,
      body: html`<p>This makes version ${newest.number + 1}, with the content of version ${number}, and publishes it. All versions stay.
        A draft that was never published stays, too.</p>`,
      yes: `Publish version ${number} again`,
      back: `/snippets/${id}`,
      afterwards: addressOf(id, '/', 'published'),
      act() {
        snippets.rollBack(organization.id, id, number, person);
        announce(context.var, 'snippet.published', id);
      },
    };
  });

  ask(pages, `${oneSnippet}/unpublish`, (context) => {
    const { organization, publisher, snippet } = context.var;
    const { id, name, published } = snippet;
    if (published === null) return undefined;
    return {
      title: `Unpublish “${name}”?`,
      body: html`${consequence(snippet, publisher)}
        <p>The draft and all versions stay, and version ${published} can be published again.</p>`,
      yes: 'Unpublish it',
      back: `/snippets/${id}`,
      afterwards: addressOf(id, '/', 'published'),
      act() {
        snippets.unpublish(organization.id, id);
        announce(context.var, 'snippet.unpublished', id);
      },
    };
  });

  ask(pages, `${oneSnippet}/delete`, (context) => {
    const { organization, publisher, snippet } = context.var;
    const { id, name } = snippet;
    return {
      title: `Delete “${name}”?`,
      body: html`${consequence(snippet, publisher)}
        <p>Its draft and its versions are gone then. Its id, ${id}, is never given to another snippet.</p>`,
      yes: 'Delete it',
      back: `/snippets/${id}`,
      afterwards: `/snippets?deleted=${id}`,
      act() {
        snippets.delete(organization.id, id);
        announce(context.var, 'snippet.deleted', id);
      },
    };
  });
}

/** Tells whether someone else has changed the draft since the form was opened, and the change may not be replaced. */
function isChangedSince(snippet: Snippet, { action, base, replaces }: SnippetForm): boolean {
  // The notice that a text is not saved has the revision, too: pages may only change after a question about them.
  const mayReplace = !action.startsWith('publish') || action === 'publish-replacing';
  return base !== '' && ![base, mayReplace && replaces].includes(revisionOf(snippet));
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

/** Says that there are two drafts. Saving again replaces the one shown here. */
function conflictNotice(snippet: Snippet): Html {
  return html`<input type="hidden" name="replaces" value="${revisionOf(snippet)}">
            <p><strong>The draft was changed elsewhere${by(snippet.editedBy)}.</strong> What is typed here is not saved. “Save the draft” replaces the other draft. <a href="/snippets/${snippet.id}">Load the other draft</a> to go on with that one.</p>
            <details><summary>The other draft</summary><pre tabindex="0">${snippet.draft}</pre></details>`;
}

/** Asks before a draft is replaced and pages change at once. */
function replacingNotice({ editedBy }: Snippet): Html {
  return html`<div class="card notice bad" role="alert" tabindex="-1" autofocus>
          <p><strong>Not published yet: the draft was changed elsewhere${by(editedBy)}.</strong> The other draft is below the text. It is gone after you publish this one.</p>
          <button class="danger" form="edit" name="action" value="publish-replacing">Publish this one instead</button>
        </div>`;
}

/** Says why something was refused. The notice has the focus, since the button may be far below. */
function refusedNotice(action: 'saved' | 'published', flaw: string): Html {
  return html`<p class="card notice bad" role="alert" tabindex="-1" autofocus><strong>Not ${action}: ${flaw}</strong></p>`;
}

function emptyNotice({ published }: Snippet): Html {
  return html`<div class="card notice bad" role="alert">
          <p><strong>Not published: the content is empty.</strong> Pages would show nothing in its place.${
            published !== null && ` They still show version ${published}.`
          }</p>
          <button class="danger" form="edit" name="action" value="publish-empty">Publish it empty</button>
        </div>`;
}
