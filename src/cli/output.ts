import { stripVTControlCharacters, styleText } from 'node:util';
import { cleanText } from '../client/clean-text.ts';
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

// All controls but tab and line feed: a snippet's text must not control the terminal that shows it.
const controls = /[\p{Cc}\p{Cf}]/gu;
const patchColors = { '+': 'green', '-': 'red', '@': 'cyan' } as const;

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function nameOf({ id, params }: Pick<SnippetRequest, 'id' | 'params'>): string {
  return `Snippet ${id}${params === undefined ? '' : ` ${cleanText(params)}`}`;
}

/** In color, if standard output is a terminal that supports it. */
export function colored(color: Parameters<typeof styleText>[0], text: string): string {
  return styleText(color, text, { stream: process.stdout });
}

/** Makes text from outside safe for a terminal, with its lines. */
export function cleanLines(text: string): string {
  const plain = stripVTControlCharacters(text);
  return plain.replace(controls, (control) => (control === '\t' || control === '\n' ? control : ''));
}

export function printPatch(patch: string): void {
  for (const line of cleanLines(patch).trimEnd().split('\n')) {
    const color = patchColors[line.charAt(0) as keyof typeof patchColors];
    print(`    ${color === undefined ? line : colored(color, line)}`);
  }
}
