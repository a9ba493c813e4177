import { readdir, readFile } from 'node:fs/promises';
import type { SourceMap } from 'node:module';
import { join, relative, resolve, sep } from 'node:path';

export interface SourceFolders {
  /** The project. People know a source by its path from here. */
  root: string;
  /** What is searched. */
  srcDir: string;
  /** What a build writes, which is left out. */
  outDir: string;
}

export interface SourceFile {
  /** Its path in the project, with slashes. */
  name: string;
  text: string;
}

/**
 * Reads the sources of a site whose names match, folder by folder. Packages, the output and hidden folders are left out,
 * since `srcDir` may be the project itself. What is missing, or is removed meanwhile, counts as empty.
 */
export async function* readSources(
  { root, srcDir, outDir }: SourceFolders,
  pattern: RegExp,
): AsyncGenerator<SourceFile> {
  const output = resolve(outDir);
  const folders = [resolve(srcDir)];
  for (const folder of folders) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    const inside = entries.filter((entry) => entry.isDirectory() && holdsSources(entry.name));
    folders.push(...inside.map(({ name }) => join(folder, name)).filter((path) => path !== output));
    const files = entries.filter((entry) => entry.isFile() && pattern.test(entry.name));
    const read = files.map(({ name }) => readSource(join(folder, name), root));
    for (const file of await Promise.all(read)) if (file !== undefined) yield file;
  }
}

/** As Astro looks for pages: `.well-known` is the one hidden folder that it takes. */
function holdsSources(folder: string): boolean {
  return folder !== 'node_modules' && (!folder.startsWith('.') || folder === '.well-known');
}

async function readSource(file: string, root: string): Promise<SourceFile | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : { name: shownSource(file, root), text };
}

/** The file of a module, without the query for one of its parts. */
export function fileOf(id: string): string {
  return id.replace(/[?#].*$/, '');
}

/** A place in a file, counted from 1. */
export interface Place {
  line: number;
  column: number;
}

export function placeAt(text: string, offset: number): Place {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

/** Where compiled code comes from. `undefined` if the source map does not say. */
export function originalPlace(map: SourceMap, code: string, offset: number): Place | undefined {
  const { line, column } = placeAt(code, offset);
  const entry = map.findEntry(line - 1, column - 1);
  if (!('originalLine' in entry) || entry.originalLine === undefined) return undefined;
  return { line: entry.originalLine + 1, column: entry.originalColumn + 1 };
}

/** How people know a source: by its path in the project, with slashes. */
export function shownSource(file: string, root: string): string {
  return relative(root, file).split(sep).join('/');
}
