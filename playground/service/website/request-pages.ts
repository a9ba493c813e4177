import { html } from 'hono/html';
import type { Website, WebsiteParts } from './environment.ts';
import { developerPages, table, time } from './layout.ts';

const shown = 200;

/** Which build asked for what, and what it got. */
export function requestPages(pages: Website, { store }: WebsiteParts): void {
  pages.get('/requests', (context) => {
    const { organization } = context.var;
    const requests = store.requests.list(organization.id, shown);
    const keys = new Map(store.keys.list(organization.id).map((key) => [key.id, key]));
    const body = html`${developerPages('/requests')}<h1>Requests</h1>
      <p class="hint">The last ${shown} at the most, the newest first. A request with a key that is not valid belongs to nobody, and is not listed.</p>
      ${
        requests.length === 0
          ? html`<p class="card">Nothing was asked for yet. <a href="/account">Update the site</a> to see its requests here.</p>`
          : table(requests, {
              Time: ({ at }) => time(at),
              Snippet: ({ snippetId }) => snippetId,
              Operation: ({ variant }) => variant,
              Params: ({ params }) => html`<code>${params}</code>`,
              Answer: ({ status }) =>
                html`<span class="status ${status === 200 ? 'good' : 'bad'}">${status}</span>`,
              Took: ({ milliseconds }) => `${milliseconds.toFixed(1)} ms`,
              Key: ({ keyId }) => keyId !== null && keys.get(keyId)?.name,
              By: ({ userAgent }) => userAgent,
            })
      }`;
    return context.render(body, { title: 'Requests', section: '/requests' });
  });
}
