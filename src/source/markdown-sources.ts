import { readdir, readFile } from 'node:fs/promises';
import { basename, extname, join, relative, sep } from 'node:path';
import type { InvalidEmbed } from '../failures/report.ts';

export interface SourceFolders {
  /** The project. People know a source by its path from here. */
  root: string;
  /** What is searched. */
  srcDir: string;
}

interface ComponentTag {
  file: string;
  line: number;
  asked: string;
}

const markdown = /\.(?:md|markdown|mdown|mkdn|mkd|mdwn)$/i;
const shownSources = 3;

/**
 * Adds to each component that was not rendered where it is written. The output does not say so; the Markdown files
 * of the project are searched, and only for this.
 */
export async function withSources(
  invalid: readonly InvalidEmbed[],
  { root, srcDir }: SourceFolders,
): Promise<InvalidEmbed[]> {
  if (invalid.every(({ componentTag }) => componentTag === undefined)) return [...invalid];
  const tags = await componentTags(root, srcDir);
  return invalid.map((embed) => {
    if (embed.componentTag === undefined) return embed;
    const asked = askedBy(embed.componentTag);
    const alike = tags.filter((tag) => tag.asked === asked);
    const own = alike.filter(({ file }) => embed.file.includes(basename(file, extname(file))));
    const sources = (own.length > 0 ? own : alike).map(({ file, line }) => `${file}:${line}`);
    if (sources.length === 0) return embed;
    const more = sources.length > shownSources ? ', …' : '';
    return {
      ...embed,
      message: `${embed.message} It is written in ${sources.slice(0, shownSources).join(', ')}${more}.`,
    };
  });
}

async function componentTags(root: string, srcDir: string): Promise<ComponentTag[]> {
  const names = (await readdir(srcDir, { recursive: true })).filter((name) => markdown.test(name)).sort();
  const tags: ComponentTag[] = [];
  for (const name of names) {
    const text = await readFile(join(srcDir, name), 'utf8');
    for (const { 0: tag, index } of text.matchAll(/<snippet\s[^>]*/gi)) {
      const line = text.slice(0, index).split('\n').length;
      tags.push({ file: relative(root, join(srcDir, name)).replaceAll(sep, '/'), line, asked: askedBy(tag) });
    }
  }
  return tags;
}

/** Which snippet a tag asks for, however Markdown has written its attributes anew. */
function askedBy(tag: string): string {
  return /\b(?:id|of)\s*=\s*["'{]*([\w.-]+)/i.exec(tag)?.[1]?.toLowerCase() ?? '';
}
