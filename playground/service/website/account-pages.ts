import type { Context } from 'hono';
import { html } from 'hono/html';
import { cleanText } from '../../../src/text/clean-text.ts';
import { excessOf, limits } from '../limits.ts';
import type { Website, WebsiteEnvironment, WebsiteParts } from './environment.ts';
import { field } from './layout.ts';
import type { Html } from './page-facts.ts';
import { repeatFailed } from './publication.ts';

/** The control for the name of a person. */
export const personInput = (person: string | null = ''): Html =>
  html`<input id="person" name="person" autocomplete="name" aria-describedby="person-hint" value="${person}">`;

/** The name of a person in a form, made safe for a terminal, or why it is refused. */
export function personOf({ person }: Record<string, unknown>): { person: string; flaw?: string | undefined } {
  const name = typeof person === 'string' ? cleanText(person) : '';
  return { person: name, flaw: excessOf('Your name has', name, limits.person) };
}

/** The name of the person, and the organization's subscription and site. */
export function accountPages(pages: Website, { store }: WebsiteParts): void {
  const show = (context: Context<WebsiteEnvironment>, notice?: Html) => {
    const { organization, person, publisher } = context.var;
    const expired = organization.subscription === 'expired';
    const recent = publisher?.latest();
    const isTold = store.webhooks.endpoint(organization.id) !== undefined;
    const isShown = context.req.query('published') !== undefined;
    const body = html`<h1>Account</h1>
      ${notice}
      <section class="card" aria-labelledby="you">
        <h2 id="you">You</h2>
        <form class="row" method="post" action="/account/person">
          ${field('person', 'Your name', personInput(person), 'Drafts that you save and versions that you publish are marked with it.')}
          <button>Save</button>
        </form>
      </section>
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
  };

  pages.get('/account', (context) => show(context));

  pages.post('/account/person', async (context) => {
    const { person, flaw } = personOf(await context.req.parseBody());
    if (flaw !== undefined) {
      context.status(422);
      return show(context, html`<p class="card notice bad" role="alert">${flaw}</p>`);
    }
    context.var.rename(person || null);
    return context.redirect('/account', 303);
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
