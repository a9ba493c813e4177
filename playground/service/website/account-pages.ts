import { html } from 'hono/html';
import type { Website, WebsiteParts } from './environment.ts';
import { repeatFailed } from './publication.ts';

/** The organization's subscription and site. */
export function accountPages(pages: Website, { store }: WebsiteParts): void {
  pages.get('/account', (context) => {
    const { organization, publisher } = context.var;
    const expired = organization.subscription === 'expired';
    const recent = publisher?.latest();
    const isTold = store.webhooks.endpoint(organization.id) !== undefined;
    const isShown = context.req.query('published') !== undefined;
    const body = html`<h1>Account</h1>
      <section class="card" aria-labelledby="subscription">
        <h2 id="subscription">Subscription</h2>
        <p>The subscription of ${organization.name} is <strong>${organization.subscription}</strong>.
          ${expired ? 'Every request is answered with 402.' : ''}</p>
        <form method="post" action="/account/subscription">
          <button class="${expired ? '' : 'danger'}" name="subscription" value="${expired ? 'active' : 'expired'}">
            ${expired ? 'Renew it' : 'Let it expire'}
          </button>
        </form>
      </section>
      <section class="card" aria-labelledby="webhook">
        <h2 id="webhook">Webhook</h2>
        <p>${
          isTold
            ? html`A signed message is sent when a snippet is published, unpublished or deleted. <a href="/account/webhook">Look at the last messages</a>`
            : html`Nothing is sent when a snippet is published. <a href="/account/webhook">Send messages</a>`
        }</p>
      </section>
      ${
        publisher &&
        html`<section class="card" aria-labelledby="site">
        <h2 id="site">Site</h2>
        <p><a href="${publisher.siteUrl}">${publisher.siteUrl}</a></p>
        <form method="post" action="/account/site"><button>Update the site</button></form>
      </section>`
      }`;
    return context.render(body, {
      title: 'Account',
      publication: isShown ? { page: '/' } : undefined,
      reloadAfter: isShown && recent?.state === 'running' ? 1 : undefined,
    });
  });

  pages.post('/account/subscription', async (context) => {
    const { subscription } = await context.req.parseBody();
    store.organizations.setSubscription(
      context.var.organization.id,
      subscription === 'expired' ? 'expired' : 'active',
    );
    if (subscription === 'active') repeatFailed(context.var.publisher);
    return context.redirect('/account', 303);
  });

  pages.post('/account/site', (context) => {
    context.var.publisher?.publish();
    return context.redirect('/account?published', 303);
  });
}
