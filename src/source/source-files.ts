import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { shownSource } from '../source-place.ts';

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
