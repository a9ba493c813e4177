import { stripVTControlCharacters, styleText } from 'node:util';
import { cleanText } from '../client/clean-text.ts';

// All controls but tab and line feed: a snippet's text must not act on the terminal that shows it.
const controls = /[\p{Cc}\p{Cf}]/gu;
const colors = { '+': 'green', '-': 'red', '@': 'cyan' } as const;

type Color = Parameters<typeof styleText>[0];

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function nameOf({ id, params }: { id: number; params?: string | undefined }): string {
  return `Snippet ${id}${params === undefined ? '' : ` ${cleanText(params)}`}`;
}

/** In colour where somebody looks at a terminal that has it, and wants it. */
export function colored(color: Color, text: string): string {
  return styleText(color, text, { stream: process.stdout });
}

/** Text of several lines from outside, fit for a terminal. */
export function cleanLines(text: string): string {
  const plain = stripVTControlCharacters(text);
  return plain.replace(controls, (control) => (control === '\t' || control === '\n' ? control : ''));
}

export function printPatch(patch: string): void {
  for (const line of cleanLines(patch).trimEnd().split('\n')) {
    const color = colors[line.charAt(0) as keyof typeof colors];
    print(`    ${color === undefined ? line : colored(color, line)}`);
  }
}
