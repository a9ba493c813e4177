import { writeStaleWarning } from '../report/failure-report.ts';
import type { SourcedSnippet } from '../snippet-source.ts';
import type { WantedSnippet } from './page-embeds.ts';

/** Names each snippet that is shown as it was once, because it could not be had now. */
export function warnOfStale(
  contents: ReadonlyMap<WantedSnippet, SourcedSnippet>,
  warn: (line: string) => void,
): void {
  for (const [snippet, { error, fetchedAt = 0 }] of contents) {
    if (error === undefined) continue;
    warn(writeStaleWarning({ ...snippet, pages: [...snippet.pages], error }, Date.now() - fetchedAt));
  }
}
