import { type Dirent, readdirSync, realpathSync, type Stats } from 'node:fs';
import { join, sep } from 'node:path';
import type { FileKind } from '../embed/found-embed.ts';
import { fileKind } from '../files/file-kind.ts';
import { contains } from '../files/paths.ts';
import { statsOf } from '../files/read.ts';
import { ExcludePatterns } from './exclude-patterns.ts';

/** A file of a built site. */
export interface SiteFile {
  /** Its path on the disk. */
  readonly file: string;
  /** Its path in the output folder, with slashes, as messages and the record have it. */
  readonly name: string;
}

/** A file in which embeds are replaced. */
export interface ScannableFile extends SiteFile {
  readonly kind: FileKind;
  /** Reads the file as its generator wrote it, if an earlier run has inlined snippets into it. */
  readonly generated?: () => Buffer;
}

/** A script, style sheet or source map, or a file that the site excludes. No embed is replaced in it. */
export interface UnscannedFile extends SiteFile {
  /** Whether the file is a script or a style sheet: an embed there is a warning, as it is not replaced. */
  readonly isCode: boolean;
}

/** The files of a site, each list sorted by name. */
export interface SiteFiles {
  scannable: ScannableFile[];
  unscanned: UnscannedFile[];
  /** Images, archives and the like, which hold no embed, but may hold the API key. */
  binary: SiteFile[];
  /** Files such as `index.html.gz`, which servers send for `index.html`. */
  compressed: SiteFile[];
}

/** The files of a site, and warnings of patterns that exclude none of them. */
export interface ListedFiles extends SiteFiles {
  warnings: string[];
}

/** Joins `file` on each access: kept paths of a large site would take as much memory as its embeds. */
class OutputFile implements ScannableFile {
  readonly #folder: string;
  readonly name: string;
  readonly kind: FileKind;

  constructor(folder: string, name: string, kind: FileKind) {
    this.#folder = folder;
    this.name = name;
    this.kind = kind;
  }

  get file(): string {
    return join(this.#folder, this.name);
  }
}

/**
 * Lists the files of a site by what can be done with them, in the same order on every disk.
 *
 * @param exclude the glob patterns of the option `exclude`
 * @param isLeftOut says which files are in no list
 */
export function listSiteFiles(
  folders: readonly string[],
  exclude: readonly string[],
  isLeftOut: (file: SiteFile) => boolean = () => false,
): ListedFiles {
  const files: SiteFiles = { scannable: [], unscanned: [], binary: [], compressed: [] };
  const excluded = new ExcludePatterns(exclude);

  const addFile = (root: string, file: string, name: string) => {
    const kind = fileKind(name);
    if (isLeftOut({ file, name })) return;
    if (kind === 'binary') files.binary.push({ file, name });
    else if (kind === 'compressed') files.compressed.push({ file, name });
    else if (excluded.has(name)) files.unscanned.push({ file, name, isCode: false });
    else if (kind === 'code') files.unscanned.push({ file, name, isCode: !name.endsWith('.map') });
    else files.scannable.push(new OutputFile(root, name, kind));
  };

  // Names are joined on the way down, which is cheaper than taking recursive paths apart.
  const listFolder = (root: string, folder: string, prefix: string) => {
    for (const found of readdirSync(folder, { withFileTypes: true })) {
      const name = `${prefix}${found.name}`;
      const file = `${folder}${sep}${found.name}`;
      const entry: Dirent | Stats | undefined = found.isSymbolicLink() ? linkedEntry(file, folder) : found;
      if (entry?.isDirectory()) listFolder(root, file, `${name}/`);
      else if (entry?.isFile()) addFile(root, file, name);
    }
  };

  for (const folder of folders) listFolder(folder, folder.replace(/[\\/]$/, ''), '');
  for (const list of Object.values(files)) {
    list.sort((a: SiteFile, b: SiteFile) => (a.name < b.name ? -1 : 1));
  }
  const names = exclude.length === 0 ? [] : [...files.scannable, ...files.unscanned].map(({ name }) => name);
  return { ...files, warnings: excluded.warnings(names) };
}

/** What a link leads to; `undefined` if nothing, or if a folder that contains the link (a loop). */
function linkedEntry(path: string, folder: string): Stats | undefined {
  const entry = statsOf(path);
  const isLoop = entry?.isDirectory() && contains(realpathSync(path), realpathSync(folder));
  return isLoop ? undefined : entry;
}
