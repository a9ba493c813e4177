import type { Context } from 'hono';
import { html } from 'hono/html';
import { limits } from '../limits.ts';
import type { Delivery, Endpoint } from '../store/webhooks.ts';
import type { Website, WebsiteEnvironment, WebsiteParts } from './environment.ts';
import { field, type Html, table, time } from './layout.ts';

const shown = 20;
const path = '/account/webhook';
const states = { pending: '', delivered: 'good', failed: 'bad' } as const;

/** Where signed messages about changes are sent. A page of its own: that of the account may load itself again. */
export function webhookPages(pages: Website, { store }: WebsiteParts): void {
  const { webhooks } = store;
  const show = (context: Context<WebsiteEnvironment>, answer: Answer = {}) => {
    const { id } = context.var.organization;
    const body = webhookPage(webhooks.endpoint(id), webhooks.list(id, shown), answer);
    return context.render(body, { title: 'Webhook', section: '/account', scripts: ['copy'] });
  };

  pages.get(path, (context) => show(context));

  // Answered with the page itself and no redirect: the secret is in this answer and in no other.
  pages.post(path, async (context) => {
    const { organization } = context.var;
    const { url } = await context.req.parseBody();
    const typed = typeof url === 'string' ? url.trim() : '';
    const flaw = flawOf(typed);
    if (flaw !== undefined) {
      context.status(422);
      return show(context, { typed, flaw });
    }
    const secret = webhooks.setUrl(organization.id, typed);
    return secret === undefined ? context.redirect(path, 303) : show(context, { secret });
  });

  pages.post(`${path}/secret`, (context) => {
    const { organization } = context.var;
    const secret = webhooks.renewSecret(organization.id);
    return secret === undefined ? context.redirect(path, 303) : show(context, { secret });
  });

  pages.post(`${path}/off`, (context) => {
    webhooks.remove(context.var.organization.id);
    return context.redirect(path, 303);
  });
}

function flawOf(text: string): string | undefined {
  const url = URL.parse(text);
  if (text.length > limits.webhookUrl) return `The URL has more than ${limits.webhookUrl} characters.`;
  if (url === null) return 'This is not a URL.';
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return 'The URL has to begin with https: or http:.';
  if (url.username !== '' || url.password !== '')
    return 'The URL must not contain a password: messages are signed.';
  return undefined;
}

/** To a form: what was typed and what is wrong with it, or a secret that was made. */
interface Answer {
  typed?: string;
  flaw?: string;
  secret?: string;
}

function webhookPage(
  endpoint: Endpoint | undefined,
  deliveries: readonly Delivery[],
  { typed, flaw, secret }: Answer,
): Html {
  const input = html`<input id="url" name="url" type="url" required maxlength="${limits.webhookUrl}" aria-describedby="url-hint" value="${typed ?? endpoint?.url ?? ''}">`;
  return html`<h1>Webhook</h1>
      ${flaw && html`<p class="card notice bad" role="alert">Nothing was changed. ${flaw}</p>`}
      ${secret && secretNotice(secret)}
      <p>When a snippet is published, unpublished or deleted, a signed message is sent to this URL. This is an extension: the
        specification has no events, and a site that is not told of a change asks for it.</p>
      <form class="card fields" method="post" action="${path}">
        ${field('url', 'URL', input, html`Such as that of <code>astro-snippets watch --listen</code>. Nothing is sent without one.`)}
        <div class="row"><button>${endpoint === undefined ? 'Send messages' : 'Change the URL'}</button></div>
      </form>
      ${endpoint && switches}
      <h2>Last messages</h2>
      ${
        deliveries.length === 0
          ? html`<p class="card">Nothing was sent yet.</p>`
          : html`<p class="hint">The last ${shown} at the most, the newest first. <a href="${path}">Look again</a></p>
      ${table(deliveries, {
        Time: ({ at }) => time(at),
        Event: ({ type }) => html`<code>${type}</code>`,
        Snippet: ({ snippetId }) => snippetId,
        Status: ({ state }) => html`<span class="status ${states[state]}">${state}</span>`,
        Answer: ({ answer }) => answer,
        Attempts: ({ attempts }) => attempts,
      })}`
      }`;
}

function secretNotice(secret: string): Html {
  return html`<div class="card notice good" role="status">
        <p><label for="new-secret">The secret that messages are signed with. Copy it now: it is not shown again. <code>watch --listen</code> reads it from <code>SNIPPETS_WEBHOOK_SECRET</code>:</label></p>
        <div class="row"><input class="grow" id="new-secret" readonly value="${secret}"><button class="quiet" type="button" data-copy="new-secret" hidden>Copy</button></div>
      </div>`;
}

const switches = html`<p class="hint">After the secret is replaced, the receiver refuses messages until it has the new one.</p>
      <div class="row">
        <form method="post" action="${path}/secret"><button class="quiet">Replace the secret</button></form>
        <form method="post" action="${path}/off"><button class="danger">Send nothing any more</button></form>
      </div>`;
