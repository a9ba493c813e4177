import { Hono } from 'hono';
import { html } from 'hono/html';
import type { WebsiteEnvironment, WebsiteParts } from './environment.ts';
import { developerPages, time } from './layout.ts';

const shown = 200;

/** Which build asked for what, and what it got. */
export function requestPages({ store }: WebsiteParts): Hono<WebsiteEnvironment> {
  const pages = new Hono<WebsiteEnvironment>();
  pages.get('/requests', (context) => {
    const { organization } = context.var;
    const requests = store.requests.list(organization.id, shown);
    const keys = new Map(store.keys.list(organization.id).map((key) => [key.id, key]));
    const body = html`${developerPages('/requests')}<h1>Requests</h1>
      <p class="hint">The last ${shown} at the most, the newest first. A request with a key that is not valid belongs to nobody, and is not listed.</p>
      ${
        requests.length === 0
          ? html`<p class="card">Nothing was asked for yet. <a href="/account">Update the site</a> to see its requests here.</p>`
          : html`<table class="card stacked">
        <thead><tr><th scope="col">Time</th><th scope="col">Snippet</th><th scope="col">Operation</th><th scope="col">Params</th><th scope="col">Answer</th><th scope="col">Took</th><th scope="col">Key</th><th scope="col">By</th></tr></thead>
        <tbody>
          ${requests.map(
            (request) => html`<tr>
            <td data-label="Time">${time(request.at)}</td>
            <td data-label="Snippet">${request.snippetId}</td>
            <td data-label="Operation">${request.variant}</td>
            <td data-label="Params"><code>${request.params ?? ''}</code></td>
            <td data-label="Answer" class="status ${request.status === 200 ? 'good' : 'bad'}">${request.status}</td>
            <td data-label="Took">${request.milliseconds.toFixed(1)} ms</td>
            <td data-label="Key">${request.keyId === null ? '' : keys.get(request.keyId)?.name}</td>
            <td data-label="By">${request.userAgent}</td>
          </tr>`,
          )}
        </tbody>
      </table>`
      }`;
    return context.render(body, { title: 'Requests', section: '/requests' });
  });
  return pages;
}
