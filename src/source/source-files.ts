import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

export interface SourceFolders {
  /** The project. People know a source by its path from here. */
  root: string;
  srcDir: string;
  /** These are copied to the output under their own names. */
  publicDir: string;
  /** What a build writes. */
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

const content = /\.(?:mdx?|markdown|mdown|mkdn|mkd|mdwn|html?|json|ya?ml|toml)$/i;
const source = new RegExp(`\\.(?:astro|[cm]?[jt]sx?|vue|svelte)$|${content.source}`, 'i');

/** Whether a file may be an entry of a collection, which no module needs to import. */
export function isContent(file: string): boolean {
  return content.test(file);
}

/**
 * Lists the sources of a site: those in `srcDir`, and content anywhere in the project. Packages, the output and hidden
 * folders are left out.
 */
export function listSources({ root, srcDir, publicDir, outDir }: SourceFolders): string[] {
  const left = [publicDir, outDir].map(folderOf);
  const list = (folder: string, names: RegExp): string[] =>
    entriesOf(folder).flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isFile()) return names.test(entry.name) ? [path] : [];
      const isLeft = /^\.|^node_modules$/.test(entry.name) || left.includes(path);
      return entry.isDirectory() && !isLeft ? list(path, names) : [];
    });
  return [...new Set([...list(folderOf(root), content), ...list(folderOf(srcDir), source)])].sort();
}

function folderOf(path: string): string {
  return fileOf(path).replace(/\/$/, '');
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** What is missing, or is removed meanwhile, counts as empty. */
export function readSource(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
