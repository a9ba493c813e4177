import { appendFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { escapeText } from 'entities/escape';
import { cleanLines } from '../../text/clean-text.ts';
import type { Cli } from '../terminal/cli.ts';

// GitHub refuses more than 1 MiB. A character takes at most six bytes.
const maxSummary = 100_000;

/** Adds to the summary of GitHub Actions. A check does not fail if that fails. */
export function appendStepSummary({ cwd, env, terminal }: Cli, text: string): void {
  const file = env['GITHUB_STEP_SUMMARY'];
  if (!file) return;
  const more = text.length > maxSummary ? '\n… The rest is in the log of this step.' : '';
  // In <pre>, nothing is Markdown. Names come from outside.
  const shown = escapeText(cleanLines(text.slice(0, maxSummary) + more));
  try {
    appendFileSync(resolve(cwd, file), `### Snippets\n\n<pre>${shown}</pre>\n\n`);
  } catch (error) {
    terminal.printError(`The step summary could not be written: ${(error as NodeJS.ErrnoException).code}`);
  }
}
