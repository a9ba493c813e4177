import type { PreparedSnippet } from '../html-rules/apply-rules.ts';
import { listPages, writeStaleWarning } from '../report/failure-report.ts';
import type { WantedSnippet } from './page-embeds.ts';

/** Names each snippet that is shown as it was once, and each that is shown although something is wrong with it. */
export function warnOfContents(
  contents: ReadonlyMap<WantedSnippet, PreparedSnippet>,
  warn: (line: string) => void,
): void {
  // The same with other params has the same flaw, and on the same pages that is one thing to say.
  const flaws = new Set<string>();
  for (const [snippet, { error, fetchedAt = 0, warnings }] of contents) {
    const pages = [...snippet.pages];
    if (error !== undefined) warn(writeStaleWarning({ ...snippet, pages, error }, Date.now() - fetchedAt));
    for (const warning of warnings) flaws.add(`${warning} It is on ${listPages(pages)}.`);
  }
  for (const flaw of flaws) warn(flaw);
}
