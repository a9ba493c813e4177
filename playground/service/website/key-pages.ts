import { Hono } from 'hono';
import { html } from 'hono/html';
import { scopes } from '../authenticate.ts';
import type { ApiKey } from '../store/keys.ts';
import type { WebsiteEnvironment, WebsiteParts } from './environment.ts';
import { type Html, layout, time } from './layout.ts';

/** Create a key, which is shown once; revoke one. */
export function keyPages({ store: { keys } }: WebsiteParts): Hono<WebsiteEnvironment> {
  const pages = new Hono<WebsiteEnvironment>();

  pages.get('/keys', (context) => {
    const { organization } = context.var;
    const body = keysPage(keys.list(organization.id));
    return context.html(layout({ title: 'API keys', section: '/keys', organization, body }));
  });

  // Answered with the page itself and no redirect: the key is in this answer and nowhere else.
  pages.post('/keys', async (context) => {
    const { organization } = context.var;
    const { name, kind } = await context.req.parseBody();
    const title = typeof name === 'string' && name.trim() !== '' ? name.trim() : 'Unnamed';
    const { secret } = keys.create(organization.id, kind === 'public' ? 'public' : 'secret', title);
    context.header('cache-control', 'no-store');
    const body = keysPage(keys.list(organization.id), secret);
    return context.html(layout({ title: 'API keys', section: '/keys', organization, body }));
  });

  pages.post('/keys/:id{[1-9][0-9]{0,14}}/revoke', (context) => {
    const revoked = keys.revoke(context.var.organization.id, Number(context.req.param('id')));
    return revoked ? context.redirect('/keys', 303) : context.notFound();
  });

  return pages;
}

function keysPage(keys: readonly ApiKey[], secret?: string): Html {
  return html`<h1>API keys</h1>
      ${
        secret === undefined
          ? ''
          : html`<div class="card notice good" role="status">
        <p><label for="new-key">The new key. It is shown this once, and stored nowhere:</label></p>
        <input id="new-key" readonly value="${secret}">
      </div>`
      }
      <div class="scroll card" tabindex="0" role="region" aria-label="API keys"><table>
        <thead><tr><th scope="col">Name</th><th scope="col">Kind</th><th scope="col">May</th><th scope="col">Ends in</th><th scope="col">Created</th><th scope="col">Change</th></tr></thead>
        <tbody>
          ${keys.map(
            ({ id, name, kind, ending, createdAt, revokedAt }) => html`<tr>
            <td>${name}</td>
            <td>${kind}</td>
            <td>${scopes[kind].join(', ')}</td>
            <td><code>…${ending}</code></td>
            <td>${time(createdAt)}</td>
            <td>${
              revokedAt === null
                ? html`<form method="post" action="/keys/${id}/revoke"><button class="danger">Revoke ${name}</button></form>`
                : html`revoked ${time(revokedAt)}`
            }</td>
          </tr>`,
          )}
        </tbody>
      </table></div>
      <h2>Create a key</h2>
      <form class="row card" method="post">
        <div class="grow">
          <label for="key-name">Name</label>
          <input id="key-name" name="name" required maxlength="100">
        </div>
        <div>
          <label for="kind">Kind</label>
          <select id="kind" name="kind">
            <option value="secret">secret: ${scopes.secret.join(', ')}</option>
            <option value="public">public: ${scopes.public.join(', ')}</option>
          </select>
        </div>
        <button>Create</button>
      </form>`;
}
