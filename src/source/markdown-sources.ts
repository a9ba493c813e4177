import { basename, extname } from 'node:path';
import type { InvalidEmbed } from '../failures/report.ts';
import { readSources, type SourceFile, type SourceFolders } from './source-files.ts';

interface ComponentTag {
  file: string;
  line: number;
  asked: string;
}

const markdown = /\.(?:md|mdx|markdown|mdown|mkdn|mkd|mdwn)$/i;
const shownSources = 3;

/** Reads the Markdown and MDX files of the project, in the order of their names. */
export async function readMarkdown(folders: SourceFolders): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for await (const file of readSources(folders, markdown)) files.push(file);
  return files.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Adds the source file to each component that was not rendered. The output does not tell, so the Markdown files of the
 * project are searched.
 */
export async function withSources(
  invalid: readonly InvalidEmbed[],
  folders: SourceFolders,
): Promise<InvalidEmbed[]> {
  if (invalid.every(({ componentTag }) => componentTag === undefined)) return [...invalid];
  const tags = Map.groupBy(await componentTags(folders), ({ asked }) => asked);
  // Thousands of embeds of one file may be alike.
  const known = new Map<string, string>();
  return invalid.map((embed) => {
    if (embed.componentTag === undefined) return embed;
    const asked = askedBy(embed.componentTag);
    const kind = JSON.stringify([asked, embed.file]);
    const place = known.get(kind) ?? describePlace(tags.get(asked) ?? [], embed.file);
    known.set(kind, place);
    return place === '' ? embed : { ...embed, message: `${embed.message} ${place}` };
  });
}

function describePlace(alike: readonly ComponentTag[], output: string): string {
  const own = alike.filter(({ file }) => output.includes(basename(file, extname(file))));
  const sources = (own.length > 0 ? own : alike).map(({ file, line }) => `${file}:${line}`);
  if (sources.length === 0) return '';
  const more = sources.length > shownSources ? ', …' : '';
  return `It is written in ${sources.slice(0, shownSources).join(', ')}${more}.`;
}

async function componentTags(folders: SourceFolders): Promise<ComponentTag[]> {
  // In MDX, the component is rendered.
  const sources = (await readMarkdown(folders)).filter(({ name }) => !name.endsWith('.mdx'));
  return sources.flatMap(({ name, text }) => {
    let read = 0;
    let line = 1;
    return [...text.matchAll(/<snippet\s[^>]*/gi)].map(({ 0: tag, index }) => {
      line += text.slice(read, index).split('\n').length - 1;
      read = index;
      return { file: name, line, asked: askedBy(tag) };
    });
  });
}

/** The snippet of a tag, even if Markdown has rewritten its attributes. */
function askedBy(tag: string): string {
  return /\b(?:id|of)\s*=\s*["'{]*([\w.-]+)/i.exec(tag)?.[1]?.toLowerCase() ?? '';
}
