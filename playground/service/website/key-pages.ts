import type { Context } from 'hono';
import { html } from 'hono/html';
import { scopes } from '../authenticate.ts';
import { excessOf, limits } from '../limits.ts';
import type { Website, WebsiteEnvironment, WebsiteParts } from './environment.ts';
import { copyButton, field, table, time } from './layout.ts';
import type { Html } from './page-facts.ts';
import { ask } from './questions.ts';

const kinds = html`<select id="kind" name="kind">
  ${Object.entries(scopes).map(([kind, may]) => html`<option value="${kind}">${kind}: ${may.join(', ')}</option>`)}
</select>`;

/** The pages to create and revoke keys. A new key is shown once. */
export function keyPages(pages: Website, { store, publisher, settings }: WebsiteParts): void {
  const { keys, requests } = store;
  const siteKeyId = () => keys.find(publisher?.apiKey() ?? '')?.id;
  const show = (context: Context<WebsiteEnvironment>, answer?: Html, typed?: string) => {
    const { organization } = context.var;
    const lastUses = requests.lastUses(organization.id);
    const body = html`<h1>API keys</h1>
      ${answer}
      ${table(keys.list(organization.id), {
        Name: ({ id, name }) =>
          html`${name} ${id === siteKeyId() && html`<span class="badge good">the site's key</span>`}`,
        Kind: ({ kind }) => kind,
        May: ({ kind }) => scopes[kind].join(', '),
        'Ends in': ({ ending }) => html`<code>…${ending}</code>`,
        Created: ({ createdAt }) => time(createdAt),
        'Last used': ({ id }) => time(lastUses.get(id)?.at ?? null),
        Change: ({ id, name, revokedAt }) =>
          revokedAt === null
            ? html`<a class="button danger" href="/keys/${id}/revoke">Revoke<span class="hidden"> ${name}</span></a>`
            : html`revoked ${time(revokedAt)}`,
      })}
      <h2>Create a key</h2>
      <form class="row card" method="post">
        ${field('key-name', 'Name', html`<input id="key-name" name="name" required value="${typed}">`)}
        ${field('kind', 'Kind', kinds)}
        <button>Create</button>
      </form>`;
    return context.render(body, { title: 'API keys' });
  };

  pages.get('/keys', (context) => show(context));

  // The answer is a page instead of a redirect, since only this answer has the key.
  pages.post('/keys', async (context) => {
    const { name, kind } = await context.req.parseBody();
    const title = typeof name === 'string' && name.trim() !== '' ? name.trim() : 'Unnamed';
    const flaw = excessOf('The name has', title, limits.keyName);
    if (flaw !== undefined) {
      context.status(422);
      return show(context, html`<p class="card notice bad" role="alert">${flaw}</p>`, title);
    }
    const { id } = context.var.organization;
    const { secret } = keys.create(id, kind === 'public' ? 'public' : 'secret', title);
    return show(
      context,
      html`<div class="card notice good" role="status">
        <p><strong>The new key.</strong> Copy it now: it is not shown again. These are the settings for a site of your own, for its file <code>.env</code> or for the terminal that builds it:</p>
        <pre tabindex="0" id="settings">${exportsOf({ SNIPPETS_API_KEY: secret, ...settings() })}</pre>
        <p class="row">${copyButton('settings')}</p>
      </div>`,
    );
  });

  ask(pages, '/keys/:id{[1-9][0-9]{0,14}}/revoke', (context) => {
    const { organization } = context.var;
    const key = keys.list(organization.id).find(({ id }) => id === Number(context.req.param('id')));
    if (key === undefined || key.revokedAt !== null) return undefined;
    const use = requests.lastUses(organization.id).get(key.id);
    const isOfSite = key.id === siteKeyId();
    return {
      title: `Revoke the key “${key.name}”?`,
      body: html`${
        isOfSite &&
        html`<p><strong>The site is built with this key.</strong> Once it is revoked, nothing that is published reaches the
          site any more, until the site is given another key.</p>`
      }
        <p>Every build that uses the key that ends in <code>…${key.ending}</code> fails from then on. It cannot be undone.</p>
        <p>${
          use === undefined
            ? 'None of the last requests used it.'
            : html`It was last used ${time(use.at)}, by ${use.userAgent}.`
        }</p>`,
      yes: isOfSite ? "Revoke the site's key" : 'Revoke it',
      // The key may have become the site's key since the question was shown.
      confirm: isOfSite ? 'site' : 'yes',
      back: '/keys',
      act: () => keys.revoke(organization.id, key.id),
    };
  });
}

/** Environment variables as lines for a shell, which a `.env` file may have, too. */
export function exportsOf(environment: Record<string, string>): string {
  return Object.entries(environment)
    .map(([name, value]) => `export ${name}='${value}'`)
    .join('\n');
}
