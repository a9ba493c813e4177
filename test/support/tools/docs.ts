import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Finds the code blocks of a language between a heading of the docs and the next heading.
 *
 * @param file a page, such as `docs/publishing.md`.
 */
export function codeBelow(heading: string, language: string, file: string): string[] {
  const page = readFileSync(join(import.meta.dirname, '../../..', file), 'utf8');
  const [, section] = page.split(new RegExp(`^#+ ${heading}$`, 'm'));
  const [text = ''] = section?.split(/^#+ (?=[A-Z])/m) ?? [];
  const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'));
  return Array.from(blocks, ([, code = '']) => code);
}
