import { readdirSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import picomatch from 'picomatch';
import type { FileKind } from '../embed/found-embed.ts';
import { fileKind } from '../files/file-kind.ts';
import { contains } from '../files/paths.ts';
import { statsOf } from '../files/read.ts';

export interface SiteFile {
  readonly file: string;
  /** Its path in the output folder, with slashes, for people. */
  readonly name: string;
}

export interface ScannableFile extends SiteFile {
  readonly kind: FileKind;
  /** Reads it as generated, if an earlier run has inlined it. */
  readonly generated?: () => Buffer;
}

/** A script, style or source map, or a file that the site excludes. */
export interface OtherFile extends SiteFile {
  readonly isCode: boolean;
}

/** Makes its path when asked: those of a large site take as much memory as its embeds. */
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

/** Lists the files of a site, but binary ones, in the same order on every disk. */
export function listSiteFiles(
  folders: string[],
  exclude: string[],
  isLeftOut = (_: SiteFile) => false,
): {
  scannable: ScannableFile[];
  others: OtherFile[];
  compressed: SiteFile[];
} {
  const scannable: ScannableFile[] = [];
  /** No embed is replaced in these. */
  const others: OtherFile[] = [];
  /** Such as `index.html.gz`, which servers send for `index.html`. */
  const compressed: SiteFile[] = [];
  const isExcluded = picomatch(exclude);
  // Joining names is cheaper than taking recursive paths apart.
  const list = (root: string, folder: string, prefix: string) => {
    for (const found of readdirSync(folder, { withFileTypes: true })) {
      const name = `${prefix}${found.name}`;
      const file = `${folder}${sep}${found.name}`;
      const entry = found.isSymbolicLink() ? linkedEntry(file, folder) : found;
      if (entry?.isDirectory()) list(root, file, `${name}/`);
      const kind = fileKind(name);
      if (!entry?.isFile() || kind === 'binary' || isLeftOut({ file, name })) continue;
      if (kind === 'compressed') compressed.push({ file, name });
      else if (isExcluded(name)) others.push({ file, name, isCode: false });
      else if (kind === 'code') others.push({ file, name, isCode: !name.endsWith('.map') });
      else scannable.push(new OutputFile(root, name, kind));
    }
  };
  for (const folder of folders) list(folder, folder.replace(/[\\/]$/, ''), '');
  for (const files of [scannable, others, compressed]) files.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { scannable, others, compressed };
}

/** What a link leads to; `undefined` for nothing, or a folder that the link is in. */
function linkedEntry(path: string, folder: string) {
  const entry = statsOf(path);
  return entry?.isDirectory() && contains(realpathSync(path), realpathSync(folder)) ? undefined : entry;
}
