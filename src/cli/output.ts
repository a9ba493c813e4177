import { styleText } from 'node:util';
import { cleanJson, cleanLines, cleanText } from '../client/clean-text.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';

/** The exit status of a command, for scripts. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  /** `refresh`: some pages can only be updated by a build. */
  needsBuild: 3,
  /** `check`: some snippets have changed. */
  changed: 10,
} as const;

const patchColors = { '+': 'green', '-': 'red', '@': 'cyan' } as const;

/**
 * Prints lines, cleaned as a whole: most contain text from outside.
 *
 * @param paint colors the lines afterwards, since cleaning removes colors.
 */
export function print(text: string, paint: (clean: string) => string = (clean) => clean): void {
  process.stdout.write(`${paint(cleanLines(text))}\n`);
}

/** Prints lines to standard error, cleaned. */
export function printError(text: string): void {
  process.stderr.write(`${cleanLines(text)}\n`);
}

/** Prints data for scripts. */
export function printJson(value: unknown): void {
  process.stdout.write(`${cleanJson(value)}\n`);
}

export function nameOf({ id, params }: Pick<SnippetRequest, 'id' | 'params'>): string {
  return `Snippet ${id}${params === undefined ? '' : ` ${cleanText(params)}`}`;
}

/** In color, if standard output is a terminal that supports it. */
export function colored(color: Parameters<typeof styleText>[0], text: string): string {
  return styleText(color, text, { stream: process.stdout });
}

export function printPatch(patch: string): void {
  for (const line of cleanLines(patch).trimEnd().split('\n')) {
    const color = patchColors[line.charAt(0) as keyof typeof patchColors];
    print(`    ${line}`, (clean) => (color === undefined ? clean : colored(color, clean)));
  }
}
