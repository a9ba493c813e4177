import type { Context } from 'hono';
import { html } from 'hono/html';
import { excessOf, limits } from '../limits.ts';
import type { Website, WebsiteEnvironment, WebsiteParts } from './environment.ts';
import { copyButton, field, table, time } from './layout.ts';
import type { Html } from './page-facts.ts';

const maxDeliveries = 20;
const path = '/account/webhook';
const states = { pending: '', delivered: 'good', failed: 'bad' } as const;

/** The page of the webhook. It is not part of the account page, which may reload. */
export function webhookPages(pages: Website, { store: { webhooks } }: WebsiteParts): void {
  const show = (context: Context<WebsiteEnvironment>, answer?: Html, typed?: string) => {
    const { id } = context.var.organization;
    const endpoint = webhooks.endpoint(id);
    const deliveries = webhooks.list(id, maxDeliveries);
    const input = html`<input id="url" name="url" type="url" required aria-describedby="url-hint" value="${typed ?? endpoint?.url}">`;
    const body = html`<h1>Webhook</h1>
      ${answer}
      <p>When a snippet is published, unpublished or deleted, a signed message is sent to this URL. This is an extension: the
        specification has no events, and a site that is not told of a change asks for it.</p>
      <form class="card fields" method="post" action="${path}">
        ${field('url', 'URL', input, html`For example, the URL of <code>astro-snippets watch --listen</code>. Nothing is sent without one.`)}
        <div class="row"><button>${endpoint === undefined ? 'Send messages' : 'Change the URL'}</button></div>
      </form>
      ${endpoint && switches}
      <h2>Last messages</h2>
      ${
        deliveries.length === 0
          ? html`<p class="card">Nothing was sent yet.</p>`
          : html`<p class="hint">The last ${maxDeliveries} at the most, the newest first. <a href="${path}">Look again</a></p>
      ${table(deliveries, {
        Time: ({ at }) => time(at),
        Event: ({ type }) => html`<code>${type}</code>`,
        Snippet: ({ snippetId }) => snippetId,
        Status: ({ state }) => html`<span class="status ${states[state]}">${state}</span>`,
        Answer: ({ answer }) => answer,
        Attempts: ({ attempts }) => attempts,
      })}`
      }`;
    return context.render(body, { title: 'Webhook' });
  };
  /** Answers with a page instead of a redirect, since only this answer has the secret. */
  const showSecret = (context: Context<WebsiteEnvironment>, secret: string | undefined) => {
    if (secret === undefined) return context.redirect(path, 303);
    return show(
      context,
      html`<div class="card notice good" role="status">
        <p><label for="new-secret">The secret that messages are signed with. Copy it now: it is not shown again. <code>watch --listen</code> reads it from <code>SNIPPETS_WEBHOOK_SECRET</code>:</label></p>
        <div class="row"><input class="grow" id="new-secret" readonly value="${secret}">${copyButton('new-secret')}</div>
      </div>`,
    );
  };

  pages.get(path, (context) => show(context));

  pages.post(path, async (context) => {
    const { url } = await context.req.parseBody();
    const typed = typeof url === 'string' ? url.trim() : '';
    const flaw = flawOf(typed);
    if (flaw === undefined) return showSecret(context, webhooks.setUrl(context.var.organization.id, typed));
    context.status(422);
    return show(
      context,
      html`<p class="card notice bad" role="alert">Nothing was changed. ${flaw}</p>`,
      typed,
    );
  });

  pages.post(`${path}/secret`, (context) =>
    showSecret(context, webhooks.renewSecret(context.var.organization.id)),
  );

  pages.post(`${path}/off`, (context) => {
    webhooks.remove(context.var.organization.id);
    return context.redirect(path, 303);
  });
}

/** Why messages cannot be sent to a URL. */
function flawOf(text: string): string | undefined {
  const url = URL.parse(text);
  const excess = excessOf('The URL has', text, limits.webhookUrl);
  if (excess !== undefined) return excess;
  if (url === null) return 'This is not a URL.';
  if (!/^https?:$/.test(url.protocol)) return 'The URL has to begin with https: or http:.';
  if (url.username !== '' || url.password !== '')
    return 'The URL must not contain a password: messages are signed.';
  return undefined;
}

const switches = html`<p class="hint">After the secret is replaced, the receiver refuses messages until it has the new one.</p>
      <div class="row">
        <form method="post" action="${path}/secret"><button class="quiet">Replace the secret</button></form>
        <form method="post" action="${path}/off"><button class="danger">Send nothing any more</button></form>
      </div>`;
