import { Hono } from 'hono';
import { html } from 'hono/html';
import type { WebsiteEnvironment, WebsiteParts } from './environment.ts';
import { layout, time } from './layout.ts';

const shown = 200;

/** Which build asked for what, and what it got. */
export function requestPages({ store }: WebsiteParts): Hono<WebsiteEnvironment> {
  const pages = new Hono<WebsiteEnvironment>();
  pages.get('/requests', (context) => {
    const { organization } = context.var;
    const requests = store.requests.list(organization.id, shown);
    const keys = new Map(store.keys.list(organization.id).map((key) => [key.id, key]));
    const body = html`<h1>Requests</h1>
      <p class="hint">The last ${shown} at the most, the newest first. A request with a key that is not valid belongs to nobody, and is not listed.</p>
      ${
        requests.length === 0
          ? html`<p class="card">Nothing was asked for yet. <a href="/account">Bring the site up to date</a> to see its requests here.</p>`
          : html`<div class="scroll card" tabindex="0" role="region" aria-label="Requests"><table>
        <thead><tr><th scope="col">Time</th><th scope="col">Snippet</th><th scope="col">Operation</th><th scope="col">Params</th><th scope="col">Answer</th><th scope="col">Took</th><th scope="col">Key</th><th scope="col">By</th></tr></thead>
        <tbody>
          ${requests.map(
            (request) => html`<tr>
            <td>${time(request.at)}</td>
            <td>${request.snippetId}</td>
            <td>${request.variant}</td>
            <td><code>${request.params ?? ''}</code></td>
            <td class="status ${request.status === 200 ? 'good' : 'bad'}">${request.status}</td>
            <td>${request.milliseconds.toFixed(1)} ms</td>
            <td>${request.keyId === null ? '' : keys.get(request.keyId)?.name}</td>
            <td>${request.userAgent}</td>
          </tr>`,
          )}
        </tbody>
      </table></div>`
      }`;
    return context.html(layout({ title: 'Requests', section: '/requests', organization, body }));
  });
  return pages;
}
