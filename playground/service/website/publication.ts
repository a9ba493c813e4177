import { html } from 'hono/html';
import type { Publication } from '../publisher.ts';
import { warningsList } from './check-notices.ts';
import type { Website, WebsiteEnvironment, WebsiteParts } from './environment.ts';
import type { Html, PublicationView } from './page-facts.ts';
import { countOf, pathOfPage, placesList } from './places.ts';

type Parts = Pick<WebsiteEnvironment['Variables'], 'organization' | 'publisher'> &
  Pick<WebsiteParts, 'store'>;

/** A path of the site to go back to, which cannot lead to another host. */
export function pathOf(page: string | undefined): string {
  return page !== undefined && /^\/(?![/\\])/.test(page) ? page : '/';
}

/** Repeats a failed update at once, since the reason may be gone. */
export function repeatFailed(publisher: WebsiteParts['publisher']): void {
  const latest = publisher?.latest();
  if (latest?.state === 'failed') publisher?.publish(latest.startedAt);
}

/** The notice alone, for the script that updates it without a reload. */
export function publicationPages(pages: Website, { store }: WebsiteParts): void {
  pages.get('/publication', (context) => {
    const { id, page } = context.req.query();
    const view = { page: pathOf(page), id: Number(id) || undefined };
    const notice = publicationNotice({ ...context.var, store }, view);
    return notice === undefined ? context.notFound() : context.html(notice);
  });
}

/** The notice of a page. Without a view, it is only shown while the site cannot be updated. */
export function publicationRegion(parts: Parts, view: PublicationView | undefined): Html | '' {
  const latest = parts.publisher?.latest();
  if (latest === undefined || (view === undefined && !isInTrouble(latest))) return '';
  const { page = '/', id } = view ?? {};
  const query = new URLSearchParams({ page, id: `${id ?? ''}` });
  return html`<div role="status" data-publication="/publication?${query}">${publicationNotice(parts, { page, id })}</div>
        ${id && html`<noscript><p><a href="/account?published">Look at how it goes</a> on another page: this one is not loaded again, so that nothing typed is lost.</p></noscript>`}`;
}

function isInTrouble({ state, failure, output }: Publication): boolean {
  return state === 'failed' || (state === 'running' && (failure !== undefined || answers.test(output)));
}

/** The progress of an update: from the click to the page, or to the reason of the failure. */
function publicationNotice(parts: Parts, { id, page }: PublicationView): Html | undefined {
  const { publisher } = parts;
  const publication = publisher?.latest();
  if (publisher === undefined || publication === undefined) return undefined;
  const { state, startedAt, finishedAt = startedAt, output } = publication;
  if (isInTrouble(publication)) {
    // During a retry, show the previous failure.
    const failure = (state === 'running' && publication.failure) || output;
    return html`<div class="card notice bad" data-state="${state}">
        <p><strong>${causeOf(failure, parts)}</strong> ${nextTry(publication)} The site shows what it showed before.</p>
        <details><summary>Details</summary><pre tabindex="0">${failure}</pre></details>
      </div>`;
  }
  if (state === 'running') {
    return html`<div class="card notice" data-state="running"><p>Updating the site …</p></div>`;
  }
  const places = id === undefined ? undefined : publisher.shown(id);
  const [first] = places?.pages ?? [];
  // The link leads to the home page, unless the snippet was edited from another page or is only on others.
  const isElsewhere = page === '/' && first !== undefined && !places?.pages.includes('index.html');
  const shown = publisher.siteUrl + (isElsewhere ? pathOfPage(first) : page);
  const isFlawed = places !== undefined && places.warnings.length > 0;
  return html`<div class="card notice ${isFlawed ? 'bad' : 'good'}" data-state="done">${
    places && countOf(places) === 'no page'
      ? html`<p>Published. No page shows it yet.</p>`
      : html`<p>Live after <strong>${((finishedAt - startedAt) / 1000).toFixed(1)} s</strong>. <a href="${shown}">Open the page</a>.${isFlawed && html` <strong>Look at it: something is wrong there.</strong>`}</p>
        ${places && warningsList(places)}
        ${places && html`<details><summary>Shown on ${countOf(places)}</summary>${placesList(places, publisher)}</details>`}
        <iframe class="page" src="${shown}" title="The page of the site"></iframe>`
  }</div>`;
}

function nextTry({ state, retryAt }: Publication): Html | string {
  if (state === 'running') return 'Trying again.';
  if (retryAt === undefined) return '';
  const iso = new Date(retryAt).toISOString();
  return html`Trying again at <time data-clock datetime="${iso}">${iso.slice(11, 16)} UTC</time>.`;
}

// The command line prints this line while it waits.
const answers = /fails for every request: (\d{3})\b/;

/** Why the site cannot be updated and what to do, from the command line's output. */
function causeOf(output: string, { store, publisher, organization }: Parts): Html {
  const has = (code: string) => output.includes(`[${code}]`);
  if (has('payment-required')) {
    return html`The subscription has expired. <a href="/account">Renew it</a>.`;
  }
  if (has('unauthorized')) {
    return html`The site's API key is not valid any more. Start the playground again: it gives the site a new one.`;
  }
  const snippets = has('not-found') ? store.snippets.list(organization.id) : [];
  const shown = snippets.flatMap(({ id, name, published }) => {
    const [page] = publisher?.shown(id)?.pages ?? [];
    return page === undefined || published !== null
      ? []
      : html`“${name}” is not published, but ${pathOfPage(page)} shows it. <a href="/snippets/${id}">Publish it</a>, or remove it from the page. `;
  });
  if (shown.length > 0) return html`${shown}`;
  const [, status] =
    answers.exec(output) ?? /\b(5\d\d)\b.*\[(?:server-error|unavailable)\]/.exec(output) ?? [];
  return status === undefined
    ? html`The site could not be updated.`
    : html`The service answers ${status}. <a href="/faults">Faults</a> may be switched on.`;
}
