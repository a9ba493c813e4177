import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** The paths of the README and the pages of `docs`. */
export const pages: readonly string[] = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

export function readPage(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}

const generatedPart = /^<!-- generated: (.+) -->\n[\s\S]*?^<!-- end -->$/gm;

/** The names of the generated parts of a page. */
export function generatedParts(text: string): string[] {
  return Array.from(text.matchAll(generatedPart), ([, name = '']) => name);
}

/**
 * Replaces the generated parts of a page.
 *
 * @param parts the text of each part by name. Other parts stay.
 */
export function fillPage(text: string, parts: ReadonlyMap<string, string>): string {
  return text.replace(generatedPart, (whole, name: string) => {
    const part = parts.get(name);
    return part === undefined ? whole : `<!-- generated: ${name} -->\n\n${part.trim()}\n\n<!-- end -->`;
  });
}

/** A fenced block of code in a page. */
export interface CodeBlock {
  page: string;
  /** The first line, from 1. */
  line: number;
  language: string;
  code: string;
  /** Whether it is in a generated part. */
  generated: boolean;
}

/** The code blocks of a page. Blocks in a list are returned without their indentation. */
export function codeBlocks(page: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { fence: string; indent: number; block: CodeBlock; lines: string[] } | undefined;
  let generated = false;
  for (const [index, line] of readPage(page).split('\n').entries()) {
    const [, indent = '', fence = '', language = ''] = /^( *)(```+)(.*)$/.exec(line) ?? [];
    if (open !== undefined) {
      if (fence === open.fence && language === '') {
        blocks.push({ ...open.block, code: open.lines.map((text) => `${text}\n`).join('') });
        open = undefined;
      } else open.lines.push(line.slice(open.indent));
    } else if (fence !== '') {
      const block = { page, line: index + 1, language: language.trim(), code: '', generated };
      open = { fence, indent: indent.length, block, lines: [] };
    } else if (line.startsWith('<!-- generated: ')) generated = true;
    else if (line === '<!-- end -->') generated = false;
  }
  if (open !== undefined) throw new Error(`${page}:${open.block.line}: the block is not closed.`);
  return blocks;
}

/** The ids that the headings of a page get, as GitHub makes them. */
export function anchors(text: string): Set<string> {
  const found = new Set<string>();
  for (const [, heading = ''] of withoutCode(text).matchAll(/^#{1,6} (.+)$/gm)) {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = plain.replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-');
    let name = slug;
    for (let count = 1; found.has(name); count += 1) name = `${slug}-${count}`;
    found.add(name);
  }
  return found;
}

/** The targets of the links and images of a page. */
export function links(text: string): string[] {
  const prose = withoutCode(text).replace(/`[^`\n]*`/g, '');
  return Array.from(prose.matchAll(/\]\(([^)\s]+)\)/g), ([, target = '']) => target);
}

function withoutCode(text: string): string {
  return text.replace(/^( *)(```+).*\n[\s\S]*?^\1\2$/gm, '');
}
