import { readFileSync } from 'node:fs';
import { posix } from 'node:path';

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

/** What is missing, or is removed meanwhile, counts as empty. */
export function readSource(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
