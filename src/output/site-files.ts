import { isUtf8 } from 'node:buffer';
import { type Dirent, existsSync, readdirSync, realpathSync, type Stats } from 'node:fs';
import { join, sep } from 'node:path';
import type { FileKind } from '../embed/found-embed.ts';
import { userError } from '../failures/errors.ts';
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
  /** Its path without links; absent unless a symbolic link leads to the file or to a folder above it. */
  readonly realFile?: string | undefined;
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
  readonly realFile: string | undefined;

  constructor(folder: string, name: string, kind: FileKind, realFile: string | undefined) {
    this.#folder = folder;
    this.name = name;
    this.kind = kind;
    this.realFile = realFile;
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
 * @throws UserError for a name that is not UTF-8: no file can be opened by what Node makes of it
 */
export function listSiteFiles(
  folders: readonly string[],
  exclude: readonly string[],
  isLeftOut: (file: SiteFile) => boolean = () => false,
): ListedFiles {
  const files: SiteFiles = { scannable: [], unscanned: [], binary: [], compressed: [] };
  const excluded = new ExcludePatterns(exclude);

  const addFile = (root: string, file: string, name: string, isLinked: boolean) => {
    const kind = fileKind(name);
    if (isLeftOut({ file, name })) return;
    const realFile = isLinked ? realpathSync.native(file) : undefined;
    if (kind === 'binary') files.binary.push({ file, name });
    else if (kind === 'compressed') files.compressed.push({ file, name });
    else if (excluded.has(name)) files.unscanned.push({ file, name, isCode: false });
    else if (kind === 'code') files.unscanned.push({ file, name, isCode: !name.endsWith('.map') });
    else files.scannable.push(new OutputFile(root, name, kind, realFile));
  };

  // Names are joined on the way down, which is cheaper than taking recursive paths apart.
  const listFolder = (root: string, folder: string, prefix: string, isLinked: boolean) => {
    for (const found of readdirSync(folder, { withFileTypes: true })) {
      const name = `${prefix}${found.name}`;
      const file = `${folder}${sep}${found.name}`;
      refuseMisread(folder, found.name, name);
      const isLink = found.isSymbolicLink();
      const entry: Dirent | Stats | undefined = isLink ? linkedEntry(file, folder) : found;
      const isReached = isLinked || isLink;
      if (entry?.isFile()) addFile(root, file, name, isReached);
      // Folders that link to each other would have paths without end, so each is entered through one link.
      else if (entry?.isDirectory() && !(isLink && isKnown(file)))
        listFolder(root, file, `${name}/`, isReached);
    }
  };
  const linkedFolders = new Set<string>();
  const isKnown = (folder: string) => {
    const { size } = linkedFolders;
    return linkedFolders.add(realpathSync.native(folder)).size === size;
  };

  for (const folder of folders) listFolder(folder, folder.replace(/[\\/]$/, ''), '', false);
  for (const list of Object.values(files)) {
    list.sort((a: SiteFile, b: SiteFile) => (a.name < b.name ? -1 : 1));
  }
  const names = exclude.length === 0 ? [] : [...files.scannable, ...files.unscanned].map(({ name }) => name);
  return { ...files, warnings: excluded.warnings(names) };
}

/** What a link leads to; `undefined` if nothing, or if a folder that contains the link (a loop). */
function linkedEntry(path: string, folder: string): Stats | undefined {
  // A link that leads to itself leads to nothing, but has an error of its own.
  const entry = existsSync(path) ? statsOf(path) : undefined;
  const isLoop = entry?.isDirectory() && contains(realpathSync(path), realpathSync(folder));
  return isLoop ? undefined : entry;
}

/** The distinct files of a list, and the other names by which symbolic links lead to them. */
export interface DistinctFiles<File> {
  files: File[];
  /** The names of files that are in the list already, each with the name that is kept. */
  aliases: ReadonlyMap<string, string>;
}

/** Leaves out files that are another name of a file in the list: what is written to the one is in the other. */
export function distinctFiles<File extends SiteFile>(files: readonly File[]): DistinctFiles<File> {
  const aliases = new Map<string, string>();
  const realFolders = new Map<string, string>();
  const realFileOf = ({ file, name }: SiteFile) => {
    const folder = file.slice(0, -name.length);
    const realFolder = realFolders.get(folder) ?? realpathSync.native(folder);
    realFolders.set(folder, realFolder);
    return join(realFolder, name);
  };

  const linked = files.filter(({ realFile }) => realFile);
  if (linked.length === 0) return { files: [...files], aliases };
  const names = new Map(
    files.filter(({ realFile }) => !realFile).map((file) => [realFileOf(file), file.name]),
  );
  for (const { realFile = '', name } of linked) {
    const known = names.get(realFile);
    if (known === undefined) names.set(realFile, name);
    else aliases.set(name, known);
  }
  return { files: files.filter(({ name }) => !aliases.has(name)), aliases };
}

/** The character that Node puts in the place of bytes that are not UTF-8. */
const replacementCharacter = '\ufffd';

/** @throws UserError if a name in a folder is not UTF-8, so that Node has misread it. @param path for people */
export function refuseMisread(folder: string, name: string, path: string): void {
  if (!name.includes(replacementCharacter)) return;
  const misread = readdirSync(folder, { encoding: 'buffer' }).find(
    (bytes) => bytes.toString() === name && !isUtf8(bytes),
  );
  if (!misread) return;
  // Latin-1 has a character for each byte: those that may be misread are shown as a shell writes them.
  const escaped = misread
    .toString('latin1')
    .replace(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`);
  throw userError(
    'unusable-output',
    `The name of a file is not UTF-8: ${path.slice(0, -name.length)}${escaped}.`,
    'Rename the file, or have its generator write names in UTF-8.',
  );
}
