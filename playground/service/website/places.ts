import { html } from 'hono/html';
import type { Publisher, ShownPlaces } from '../publisher.ts';
import type { Html } from './page-facts.ts';

/** The path that serves a file of the site's output. */
export function pathOfPage(file: string): string {
  return `/${file.replace(/(^|\/)index\.html$/, '$1')}`.split('/').map(encodeURIComponent).join('/');
}

/** The number of places in words. */
export function countOf(places: ShownPlaces | undefined): string {
  if (places === undefined) return 'not known';
  const { pages, entries } = places;
  const counts = [
    pages.length > 0 && `${pages.length} ${pages.length === 1 ? 'page' : 'pages'}`,
    entries.length > 0 && `${entries.length} ${entries.length === 1 ? 'entry' : 'entries'} of collections`,
  ];
  return counts.filter((count) => count !== false).join(', ') || 'no page';
}

const maxPlaces = 100;

/** Every place that shows a snippet, with links to the pages. */
export function placesList(places: ShownPlaces, { siteUrl }: Publisher): Html {
  const { pages, entries } = places;
  const more = pages.length + entries.length - maxPlaces;
  return html`<ul class="places">
        ${pages.slice(0, maxPlaces).map((page) => html`<li><a href="${siteUrl}${pathOfPage(page)}">${pathOfPage(page)}</a></li>`)}
        ${entries.slice(0, Math.max(0, maxPlaces - pages.length)).map((entry) => html`<li>the entry <code>${entry}</code></li>`)}
        ${more > 0 && html`<li>and ${more} more</li>`}
      </ul>`;
}
