import { globSync, readFileSync } from 'node:fs';
import { extname, join, posix } from 'node:path';

export interface SourceFolders {
  /** The project. People know a source by its path from here. */
  root: string;
  srcDir: string;
  /** These are copied to the output under their own names. */
  publicDir: string;
  outDir: string;
}

/** The file of a path or of a module's id, in the form of Vite's ids: with slashes, and without a query. */
export function fileOf(id: string): string {
  return id.replace(/[?#].*$/, '').replaceAll('\\', '/');
}

/** How people know a file: by its path in the project. */
export function shownSource(id: string, root: string): string {
  return posix.relative(fileOf(root), fileOf(id));
}

const contentTypes = 'md,mdx,markdown,mdown,mkdn,mkd,mdwn,htm,html,json,yml,yaml,toml';
const moduleTypes = 'astro,js,cjs,mjs,jsx,ts,cts,mts,tsx,vue,svelte';

/** Whether a file may be an entry of a collection, which no module needs to import. */
export function isContent(file: string): boolean {
  return contentTypes.split(',').includes(extname(file).slice(1));
}

/** The files of `srcDir`, and content anywhere in the project but in packages, the output and hidden folders. */
export function listSources({ root, srcDir, publicDir, outDir }: SourceFolders): string[] {
  const list = (folder: string, types: string): string[] => {
    const left = [publicDir, outDir].map((path) => `${shownSource(path, folder)}/**`);
    const found = globSync(`**/*.{${types}}`, { cwd: folder, exclude: ['**/node_modules/**', ...left] });
    return found.map((path) => fileOf(join(folder, path)));
  };
  return [
    ...new Set([...list(root, contentTypes), ...list(srcDir, `${contentTypes},${moduleTypes}`)]),
  ].sort();
}

/** What is missing, or is removed meanwhile, counts as empty. */
export function readSource(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
