import { html } from 'hono/html';
import { elementsOf } from '../../../src/content/parse.ts';
import type { Html } from './page-facts.ts';

/** A document that shows what is for `<head>`, and invisible on a page: the card that other sites make of a link. */
export function headCard(content: string): Html | undefined {
  if (!/^\s*<(?:meta|link|title|base)\b/i.test(content)) return undefined;
  const elements = elementsOf(content);
  const meta = (part: string) =>
    elements
      .map(({ attrs }) => Object.fromEntries(attrs.map(({ name, value }) => [name, value])))
      .find(({ property, name }) =>
        [`og:${part}`, `twitter:${part}`, part].includes(property ?? name ?? ''),
      )?.['content'];
  const image = meta('image');
  return html`<!doctype html><meta name="color-scheme" content="light dark"><style>
    body { font: clamp(1rem, 2.5vw, 2rem)/1.4 system-ui, sans-serif; display: grid; place-content: center; min-height: 90vh }
    article { width: min(56rem, 88vw); border: 1px solid #888; border-radius: 1rem; overflow: hidden }
    img { display: block; width: 100% } div { padding: 1.5rem 2rem } p { margin: 0 }
  </style><article>${image && html`<img src="${image}" alt="">`}<div>
    <p><small>${meta('site_name')}</small></p><p><strong>${meta('title') ?? 'The title of the page'}</strong></p><p>${meta('description')}</p>
  </div></article>`;
}
