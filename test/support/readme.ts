import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** The code blocks of one language below a heading of the README, or another page, up to the next heading. */
export function codeBelow(heading: string, language: string, page = 'README.md'): string[] {
  const [, section] = readFileSync(join(root, page), 'utf8').split(new RegExp(`^#+ ${heading}$`, 'm'));
  const [text = ''] = section?.split(/^#+ (?=[A-Z])/m) ?? [];
  const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'));
  return Array.from(blocks, ([, code = '']) => code);
}
