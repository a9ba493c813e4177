import { count, formatDuration } from '../client/format.ts';
import type { SnippetSource } from '../snippets/source.ts';
import type { ScannedSite } from './scan-site.ts';

/** The one line that says what a build did. */
export function describeBuild(
  { files, uses, embeds }: ScannedSite,
  counts: SnippetSource['counts'] & { missing: number; withoutKey: boolean },
  milliseconds: number,
): string {
  const { requests, retries, fallbacks, cached = 0, missing, withoutKey } = counts;
  const isPage = files.every(({ source }) => source.kind === 'html');
  return [
    `${count(uses.length, 'snippet')} in ${count(embeds, 'embed')} ${isPage ? `on ${count(files.length, 'page')}` : `in ${count(files.length, 'file')}`}`,
    withoutKey
      ? 'children are shown, without an API key'
      : `${count(requests, 'request')}, ${count(retries, 'retry', 'retries')}, ${count(fallbacks, 'fallback')}`,
    ...(cached > 0 ? [`${cached} from the cache`] : []),
    ...(missing > 0 ? [`${count(missing, 'optional snippet')} not found`] : []),
    formatDuration(milliseconds),
  ].join(' · ');
}

const secondsBetweenLines = 5;

/** Returns a function that logs a line every 5 seconds, so that a log shows that the build is still working. */
export function progressLogger(
  total: number,
  log: (line: string) => void,
  now = () => performance.now(),
): (done: number) => void {
  let loggedAt = now();
  return (done) => {
    if (now() - loggedAt < secondsBetweenLines * 1000) return;
    loggedAt = now();
    log(`${done} of ${count(total, 'snippet')}`);
  };
}
