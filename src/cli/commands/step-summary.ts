import { appendFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { escapeText } from 'entities/escape';
import { cleanLines } from '../../text/clean-text.ts';
import type { Cli } from '../terminal/cli.ts';

/**
 * The longest text, in characters. GitHub refuses a summary of more than 1 MiB, and an escaped character
 * takes at most six bytes.
 */
const maxSummaryLength = 100_000;

/**
 * Adds text to the job summary of GitHub Actions, if the command runs there. A summary that cannot be written
 * does not fail the check.
 */
export function appendStepSummary({ cwd, env, terminal }: Cli, text: string): void {
  const file = env['GITHUB_STEP_SUMMARY'];
  if (!file) return;
  const note = text.length > maxSummaryLength ? '\n… The rest is in the log of this step.' : '';
  // The text contains names from outside. Nothing in a `<pre>` element is read as Markdown, and no escaped
  // text as HTML.
  const html = escapeText(cleanLines(text.slice(0, maxSummaryLength) + note));
  try {
    appendFileSync(resolve(cwd, file), `### Snippets\n\n<pre>${html}</pre>\n\n`);
  } catch (error) {
    terminal.printError(`The step summary could not be written: ${(error as NodeJS.ErrnoException).code}`);
  }
}
