import { appendFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { escapeText } from 'entities/escape';
import { cleanLines } from '../../text/clean-text.ts';
import type { Cli } from './terminal.ts';

/** The longest summary, in characters of up to 6 bytes once escaped. GitHub refuses more than 1 MiB. */
const maxSummaryLength = 100_000;

/** Adds text to the job summary, if the command runs in GitHub Actions. A failure does not fail the command. */
export function appendStepSummary({ cwd, env, terminal }: Cli, text: string): void {
  const file = env['GITHUB_STEP_SUMMARY'];
  if (!file) return;
  const note = text.length > maxSummaryLength ? '\n… The rest is in the log of this step.' : '';
  // Names from outside are harmless: nothing in `<pre>` is read as Markdown, and no escaped text as HTML.
  const html = escapeText(cleanLines(text.slice(0, maxSummaryLength) + note));
  try {
    appendFileSync(resolve(cwd, file), `### Snippets\n\n<pre>${html}</pre>\n\n`);
  } catch (error) {
    terminal.printError(`The step summary could not be written: ${(error as NodeJS.ErrnoException).code}`);
  }
}
