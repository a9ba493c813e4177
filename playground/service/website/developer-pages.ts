import type { Context } from 'hono';
import { html } from 'hono/html';
import { z } from 'zod';
import { noFaults } from '../faults.ts';
import type { Website, WebsiteEnvironment, WebsiteParts } from './environment.ts';
import { field, navigation, table, time } from './layout.ts';
import type { Html } from './page-facts.ts';
import { repeatFailed } from './publication.ts';

const tabs = [
  ['/requests', 'Requests'],
  ['/faults', 'Faults'],
] as const;
const maxRequests = 200;
const statuses = [500, 502, 503, 504] as const;
const percent = z.coerce.number().min(0).max(100);

const formSchema = z.object({
  failing: percent.transform((share) => share / 100),
  failingStatus: z.coerce.number().pipe(z.literal(statuses)),
  retryAfter: z.string().trim().max(100),
  latency: z.coerce.number().int().min(0).max(600_000),
  cut: percent.transform((share) => share / 100),
  renderAbsent: z.coerce.boolean().default(false),
});

/** The requests of builds with their answers, and faults to test how builds react. */
export function developerPages(pages: Website, { store, faults, publisher }: WebsiteParts): void {
  pages.get('/requests', (context) => {
    const { organization } = context.var;
    const requests = store.requests.list(organization.id, maxRequests);
    const keys = new Map(store.keys.list(organization.id).map((key) => [key.id, key]));
    const body = html`${navigation('Developer', tabs, '/requests')}<h1>Requests</h1>
      <p class="hint">At most the last ${maxRequests}, newest first. Requests with an invalid key are not listed.</p>
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
    return context.render(body, { title: 'Requests' });
  });

  const show = (context: Context<WebsiteEnvironment>, notice?: Html) => {
    const statusSelect = html`<select id="failingStatus" name="failingStatus">
            ${statuses.map((status) => html`<option${status === faults.failingStatus && html` selected`}>${status}</option>`)}
          </select>`;
    const retryAfter = html`<input id="retryAfter" name="retryAfter" value="${faults.retryAfter}" aria-describedby="retryAfter-hint">`;
    return context.render(
      html`${navigation('Developer', tabs, '/faults')}<h1>Faults on demand</h1>
      <p>What is wrong with the API until it is changed here again. The website is not affected.</p>
      ${notice}
      <form class="card fields" method="post">
        ${number('failing', 'Requests that fail, in percent', Math.round(faults.failing * 100), 100)}
        ${field('failingStatus', 'They fail with', statusSelect)}
        ${field('retryAfter', 'Retry-After of those', retryAfter, 'Seconds, or a date, or nonsense; empty for none.')}
        ${number('latency', 'Latency of each answer, in milliseconds', faults.latency, 600_000)}
        ${number('cut', 'Answers cut off in the middle, in percent', Math.round(faults.cut * 100), 100)}
        <div class="row">
          <input type="checkbox" id="renderAbsent" name="renderAbsent"${faults.renderAbsent && html` checked`}>
          <label for="renderAbsent">Rendering is not there</label>
        </div>
        <div class="row">
          <button>Apply</button>
          <button class="quiet" formaction="/faults/none" formnovalidate>No faults</button>
        </div>
      </form>
      <p class="hint">An expired subscription is on the <a href="/account">account page</a>.</p>`,
      { title: 'Faults', section: '/requests' },
    );
  };

  pages.get('/faults', (context) => show(context));

  pages.post('/faults', async (context) => {
    const form = formSchema.safeParse(await context.req.parseBody());
    if (!form.success) {
      const fields = form.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
      context.status(422);
      return show(context, html`<p class="card notice bad" role="alert">Nothing was changed. ${fields}</p>`);
    }
    Object.assign(faults, form.data);
    repeatFailed(publisher);
    return show(context, html`<p class="card notice good" role="status">Applies from the next request.</p>`);
  });

  pages.post('/faults/none', (context) => {
    Object.assign(faults, noFaults);
    repeatFailed(publisher);
    return context.redirect('/faults', 303);
  });
}

function number(name: string, label: string, value: number, max: number): Html {
  const input = html`<input type="number" id="${name}" name="${name}" min="0" max="${max}" value="${value}" required>`;
  return field(name, label, input);
}
