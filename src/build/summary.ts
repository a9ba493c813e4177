import { count, formatDuration } from '../client/format.ts';
import { type ProgressPace, paced } from '../record/progress.ts';
import type { AnswerCounts } from '../snippets/answers.ts';
import type { ScannedSite } from './scan-site.ts';

/** What a build reports through: Astro's logger, or the command line. Lines are cleaned there. */
export interface BuildLogger {
  info(line: string): void;
  warn(line: string): void;
}

/** The one line that says what a build did. */
export function describeBuild(
  { files, uses }: ScannedSite,
  counts: AnswerCounts & {
    missing: number;
    withoutKey: boolean;
    /** How many came from variant A although there is a variant B. */
    retrieved: number;
    /** On how many pages there are edit links, if the site has them. */
    linkedPages?: number | undefined;
  },
  milliseconds: number,
): string {
  const { requests, retries, retrieved, cached = 0, missing, withoutKey, linkedPages } = counts;
  const embeds = files.reduce((sum, file) => sum + file.embeds.length, 0);
  const isPage = files.every(({ source }) => source.kind === 'html');
  return [
    `${count(uses.length, 'snippet')} in ${count(embeds, 'embed')} ${isPage ? `on ${count(files.length, 'page')}` : `in ${count(files.length, 'file')}`}`,
    withoutKey
      ? 'children are shown, without an API key'
      : `${count(requests, 'request')}, ${count(retries, 'retry', 'retries')}`,
    ...(retrieved > 0 ? [`${retrieved} retrieved instead of rendered`] : []),
    ...(cached > 0 ? [`${cached} from the cache`] : []),
    ...(missing > 0 ? [`${count(missing, 'optional snippet')} not found`] : []),
    ...(linkedPages === undefined ? [] : [`edit links on ${count(linkedPages, 'page')}`]),
    formatDuration(milliseconds),
  ].join(' · ');
}

// A line every 5 seconds shows in a log that the build is still working.
const pace: ProgressPace = { first: 5_000, every: 5_000 };

/** Returns a function that is called with the number of snippets that are done, and logs it now and then. */
export function progressLogger(
  total: number,
  log: (line: string) => void,
  now?: () => number,
): (done: number) => void {
  const progress = paced(pace, log, now);
  return (done) => progress(() => `${done} of ${count(total, 'snippet')}`);
}
