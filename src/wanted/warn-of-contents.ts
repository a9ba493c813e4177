import type { PreparedSnippet } from '../html-rules/apply-rules.ts';
import { listPages, writeStaleWarning } from '../report/failure-report.ts';
import type { WantedSnippet } from './page-embeds.ts';

/** Names each snippet that is shown as it was once, and each that is shown although something is wrong with it. */
export function warnOfContents(
  contents: ReadonlyMap<WantedSnippet, PreparedSnippet>,
  warn: (line: string) => void,
): void {
  for (const [snippet, { error, fetchedAt = 0, warnings }] of contents) {
    const pages = [...snippet.pages];
    if (error !== undefined) warn(writeStaleWarning({ ...snippet, pages, error }, Date.now() - fetchedAt));
    for (const warning of warnings) warn(`${warning} It is on ${listPages(pages)}.`);
  }
}
