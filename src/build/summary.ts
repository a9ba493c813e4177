import type { Notice } from '../client/notice.ts';
import type { SnippetSource } from '../snippet-source.ts';
import type { SiteEmbeds } from './find-embeds.ts';

/** The one line that says what was done. */
export function describeBuild(
  { pages, snippets }: SiteEmbeds,
  { requests, retries, fallbacks, cached = 0 }: SnippetSource['counts'],
  milliseconds: number,
): string {
  const embeds = pages.reduce((sum, page) => sum + page.embeds.length, 0);
  const time =
    milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(2)} s`;
  return [
    `${count(snippets.length, 'snippet')} in ${count(embeds, 'embed')} on ${count(pages.length, 'page')}`,
    `${count(requests, 'request')}, ${count(retries, 'retry', 'retries')}, ${count(fallbacks, 'fallback')}`,
    ...(cached > 0 ? [`${cached} from the cache`] : []),
    time,
  ].join(' · ');
}

export function describeNotice(notice: Notice): string {
  switch (notice.kind) {
    case 'held':
      return `The service at ${notice.origin} asks to wait ${Math.ceil(notice.milliseconds / 1000)} s.`;
    case 'failing':
      return `The service at ${notice.origin} fails too often: it is asked only now and then until it recovers.`;
    case 'recovered':
      return `The service at ${notice.origin} answers again.`;
    case 'render-given-up':
      return 'Rendering (variant B) failed for several snippets in a row: from here on they are retrieved (variant A).';
  }
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
