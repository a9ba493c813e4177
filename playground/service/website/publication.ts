import { html } from 'hono/html';
import type { Publication } from '../publisher.ts';
import type { Html } from './layout.ts';

/** What became of bringing the site up to date: from the click to the page, or to the reason why not. */
export function publicationNotice(publication: Publication, siteUrl: string, page: string): Html {
  const { state, how, startedAt, finishedAt, output, buildMilliseconds } = publication;
  const seconds = (((finishedAt ?? Date.now()) - startedAt) / 1000).toFixed(1);
  switch (state) {
    case 'running':
      return html`<div class="card notice" role="status">
        <p>The site is being brought up to date: ${seconds} s so far. This page loads itself again.</p>
      </div>`;
    case 'failed':
      return html`<div class="card notice bad" role="status">
        <p><strong>The site could not be brought up to date.</strong> It still shows what it showed before.</p>
        <details open>
          <summary>What was said</summary>
          <pre tabindex="0">${output}</pre>
        </details>
      </div>`;
    case 'done':
      return html`<div class="card notice good" role="status">
        <p>It is on the site <strong>${seconds} s</strong> after the click${how === 'refresh' && buildMilliseconds !== undefined ? html`, by a refresh (the last full build took ${(buildMilliseconds / 1000).toFixed(1)} s)` : html`, by a full build`}: <a href="${siteUrl}${page}">open the page</a>.</p>
        <iframe class="page" src="${siteUrl}${page}" title="The page of the site"></iframe>
      </div>`;
  }
}
