import { Hono } from 'hono';
import { html } from 'hono/html';
import type { Publisher } from '../publisher.ts';
import type { WebsiteEnvironment, WebsiteParts } from './environment.ts';
import type { Html } from './layout.ts';
import { countOf, pathOfPage, placesList } from './places.ts';

/** What the notice is about. */
export interface PublicationView {
  /** The page of the site to look at. */
  page: string;
  /** The snippet that was published; absent when the site as a whole was updated. */
  id?: number | undefined;
}

/** A path of the site, to lead back to. Nothing that could be another host. */
export function pathOf(page: string | undefined): string {
  return page !== undefined && /^\/(?![/\\])/.test(page) ? page : '/';
}

/** Tries again at once what failed, since the reason may be gone. */
export function repeatFailed(publisher: Publisher | undefined): void {
  if (publisher?.latest()?.state === 'failed') publisher.publish();
}

/** The notice alone, for the script that keeps it up to date without loading the page again. */
export function publicationPages({ publisher }: WebsiteParts): Hono<WebsiteEnvironment> {
  const pages = new Hono<WebsiteEnvironment>();
  pages.get('/publication', (context) => {
    const id = Number(context.req.query('id'));
    const view = { page: pathOf(context.req.query('page')), id: id > 0 ? id : undefined };
    return publisher?.latest() === undefined
      ? context.notFound()
      : context.html(publicationNotice(publisher, view));
  });
  return pages;
}

/** Where the notice stands, as long as there is anything to say. */
export function publicationRegion(publisher: Publisher | undefined, view: PublicationView): Html | '' {
  if (publisher?.latest() === undefined) return '';
  const query = new URLSearchParams({ page: view.page, ...(view.id ? { id: `${view.id}` } : {}) });
  return html`<div role="status" data-publication="/publication?${query}">${publicationNotice(publisher, view)}</div>
        <noscript><p><a href="/account?published">Look at how it goes</a>, on another page: this one is not loaded again, so that nothing typed is lost.</p></noscript>`;
}

/** What became of an update of the site: from the click to the page, or to the reason why not. */
function publicationNotice(publisher: Publisher, view: PublicationView): Html {
  const publication = publisher.latest();
  if (publication === undefined) return html``;
  const { state, startedAt, finishedAt, output, failure, retryAt } = publication;
  switch (state) {
    case 'running':
      return failure === undefined
        ? html`<div class="card notice" data-state="running">
        <p>The site is being updated. This says when it shows the text.</p>
      </div>`
        : html`<div class="card notice bad" data-state="running">
        <p><strong>The site could not be updated.</strong> It is being tried again now.</p>
        ${outputPart(failure)}
      </div>`;
    case 'failed':
      return html`<div class="card notice bad" data-state="failed">
        <p><strong>The site could not be updated.</strong> It still shows what it showed before. ${
          retryAt === undefined
            ? ''
            : html`What you published is kept, and the next attempt is at ${clock(retryAt)}: it arrives by itself.`
        }</p>
        ${outputPart(output)}
      </div>`;
    case 'done':
      return html`<div class="card notice good" data-state="done">
        ${donePart(publisher, view, {
          seconds: (((finishedAt ?? Date.now()) - startedAt) / 1000).toFixed(1),
          at: finishedAt ?? Date.now(),
        })}
      </div>`;
  }
}

function donePart(
  publisher: Publisher,
  { id, page }: PublicationView,
  { seconds, at }: { seconds: string; at: number },
): Html {
  const { siteUrl } = publisher;
  const { how, buildMilliseconds } = publisher.latest() ?? {};
  const way =
    how === 'refresh' && buildMilliseconds !== undefined
      ? html`by a refresh (the last full build took ${(buildMilliseconds / 1000).toFixed(1)} s)`
      : html`by a full build`;
  const places = id === undefined ? undefined : publisher.shown(id);
  if (places !== undefined && places.pages.length + places.entries.length === 0) {
    return html`<p>It is published since ${clock(at)}, and no page of the site embeds it yet.</p>`;
  }
  const [first] = places?.pages ?? [];
  // The home page unless it was edited from another, or is on others only.
  const isElsewhere = page === '/' && first !== undefined && !places?.pages.includes('index.html');
  const shown = isElsewhere ? pathOfPage(first) : page;
  return html`<p>It is on the site <strong>${seconds} s</strong> after the click, ${way}: <a href="${siteUrl}${shown}">open the page</a>.</p>
        ${
          places === undefined
            ? ''
            : html`<details><summary>Shown on ${countOf(places)}</summary>${placesList(places, publisher)}</details>`
        }
        <iframe class="page" src="${siteUrl}${shown}" title="The page of the site"></iframe>`;
}

function outputPart(output: string): Html {
  return html`<details>
          <summary>What was said</summary>
          <pre tabindex="0">${output}</pre>
        </details>`;
}

function clock(milliseconds: number): Html {
  const iso = new Date(milliseconds).toISOString();
  return html`<time datetime="${iso}">${iso.slice(11, 19)} UTC</time>`;
}
