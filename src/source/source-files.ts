import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';

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
const code = /\.(?:astro|[cm]?[jt]sx?|vue|svelte)$/;

/** Whether a file may be an entry of a collection, which no module needs to import. */
export function isContent(file: string): boolean {
  return content.test(file);
}

/**
 * Lists the sources of a site: those in `srcDir`, and content anywhere in the project. Packages, the output and hidden
 * folders are left out.
 */
export function listSources({ root, srcDir, publicDir, outDir }: SourceFolders): string[] {
  const left = new Set([publicDir, outDir].map(folderOf));
  const source = folderOf(srcDir);
  const folders = [...new Set([folderOf(root), source])];
  const seen = new Set(folders);
  const files: string[] = [];
  for (const folder of folders) {
    const isSource = `${folder}/`.startsWith(`${source}/`);
    for (const entry of entriesOf(folder)) {
      const path = `${folder}/${entry.name}`;
      if (entry.isFile() && (isContent(entry.name) || (isSource && code.test(entry.name)))) files.push(path);
      if (!entry.isDirectory() || !holdsSources(entry.name) || left.has(path) || seen.has(path)) continue;
      seen.add(path);
      folders.push(path);
    }
  }
  return files.sort();
}

function folderOf(path: string): string {
  return fileOf(join(path, '.')).replace(/\/$/, '');
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** As Astro looks for pages: `.well-known` is the one hidden folder that it takes. */
function holdsSources(folder: string): boolean {
  return folder !== 'node_modules' && (!folder.startsWith('.') || folder === '.well-known');
}

export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** What is missing, or is removed meanwhile, counts as empty. */
export function readSource(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
