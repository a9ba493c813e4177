import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');

/** The code blocks of one language below a heading of the README, up to the next heading. */
export function codeBelow(heading: string, language: string): string[] {
  const [, section] = readme.split(new RegExp(`^#+ ${heading}$`, 'm'));
  const [text = ''] = section?.split(/^#+ (?=[A-Z])/m) ?? [];
  const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'));
  return Array.from(blocks, ([, code = '']) => code);
}
