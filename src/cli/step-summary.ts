import { appendFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { cleanText } from '../client/clean-text.ts';
import { count } from '../client/format.ts';
import type { CheckOutput } from './cli-output.ts';
import type { CliContext } from './context.ts';
import { nameOf, placeNames } from './output.ts';

type CheckSummary = Pick<CheckOutput, 'compared' | 'changed' | 'unfinished'>;

/** Under GitHub Actions, adds what a check has found to the summary of the run. A summary that fails fails no check. */
export async function appendStepSummary(
  { cwd, env, terminal }: Pick<CliContext, 'cwd' | 'env' | 'terminal'>,
  summary: CheckSummary | 'no record',
): Promise<void> {
  const file = env['GITHUB_STEP_SUMMARY'];
  if (!file) return;
  try {
    await appendFile(resolve(cwd, file), describeCheck(summary));
  } catch (error) {
    terminal.printError(`The step summary could not be written: ${(error as NodeJS.ErrnoException).code}`);
  }
}

// GitHub refuses a summary of more than 1 MiB as a whole.
const maxLength = 500_000;
const pagesShown = 20;

/** What a check has found, in GitHub's Markdown. Names come from outside, and are escaped. */
export function describeCheck(summary: CheckSummary | 'no record'): string {
  const title = '### Snippets\n\n';
  if (summary === 'no record') return `${title}There is no usable record of a build.\n\n`;
  const { compared, changed, unfinished } = summary;
  if (changed.length + unfinished.length === 0) {
    return `${title}Nothing has changed: ${count(compared, 'snippet')} ${compared === 1 ? 'matches' : 'match'} the last build.\n\n`;
  }
  const rows = [
    ...changed.map(
      (snippet) =>
        `| ${escaped(nameOf(snippet))} | ${snippet.missing ? 'no longer exists' : 'has changed'} | ${listed(placeNames(snippet))} |\n`,
    ),
    ...unfinished.map(({ name, reason }) => `| ${escaped(name)} | ${escaped(reason)} | |\n`),
  ];
  let table = '| What | Change | Shown on |\n| --- | --- | --- |\n';
  let shown = 0;
  for (const row of rows) {
    if (table.length + row.length > maxLength) break;
    table += row;
    shown += 1;
  }
  const more = rows.length > shown ? `and ${rows.length - shown} more\n\n` : '';
  return `${title}${table}\n${more}`;
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, pagesShown).map(escaped);
  const more = names.length > pagesShown ? [`and ${names.length - pagesShown} more`] : [];
  return [...shown, ...more].join('<br>');
}

/** Markdown has too many characters with a meaning to list them. A reference has none. */
function escaped(text: string): string {
  return cleanText(text).replace(/[^\p{L}\p{N} ]/gu, (character) => `&#${character.codePointAt(0)};`);
}
