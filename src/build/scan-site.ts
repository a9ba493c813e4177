import { readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { sep } from 'node:path';
import picomatch from 'picomatch';
import { mayHoldEmbeds } from '../embed/may-hold-embeds.ts';
import type { FileKind } from '../embed/scan.ts';
import type { InvalidEmbed } from '../failures/report.ts';
import { fileKind } from '../files/kinds.ts';
import { isLargeBinary, overlaps, readUnlessLarge, searchFile } from '../files/read.ts';
import { contains } from '../record/manifest-file.ts';
import type { Settings } from '../settings/settings.ts';
import { pathOfFile, type SiteUrls } from '../settings/site-urls.ts';
import type { SnippetFetcher } from '../snippets/fetch-snippets.ts';
import type { FileEmbed, SnippetUse, SnippetUses } from '../snippets/file-embeds.ts';
import { inTurns } from './in-turns.ts';
import type { OutputVerifier } from './verify-output.ts';

/** A file of the built site. */
export interface SiteFile {
  /** Its path on disk. */
  readonly file: string;
  /** How people know it: its path in the output folder, with slashes. */
  readonly name: string;
}

/** A file that may contain embeds. */
export interface ScannableFile extends SiteFile {
  readonly kind: FileKind;
  /** Reads the file as it was generated, if an earlier run has inlined it. */
  readonly generated?: () => Buffer;
}

export interface SiteFiles {
  scannable: ScannableFile[];
  /** Scripts, styles, source maps, and files that the site excludes. They are only searched for the API key. */
  others: SiteFile[];
  /** Files such as `index.html.gz`, which servers send in the place of `index.html`. */
  compressed: SiteFile[];
}

/**
 * Without its path, which is made when it is needed: of a large site, all of them take as much memory as its embeds. So
 * `{ ...file }` has none.
 */
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
    return `${this.#folder}${sep}${sep === '/' ? this.name : this.name.replaceAll('/', sep)}`;
  }
}

/**
 * Lists the files of a site, in an order that does not depend on the disk. Other binary files are left out.
 *
 * @param directories the folders that it is in.
 * @param exclude patterns of files whose embeds are examples.
 */
export function listSiteFiles(
  directories: readonly string[],
  exclude: readonly string[],
  isLeftOut: (file: SiteFile) => boolean = () => false,
): SiteFiles {
  const files: SiteFiles = { scannable: [], others: [], compressed: [] };
  const isExcluded = excluder(exclude);
  // Folder by folder, because joining names is cheaper than taking recursive paths apart.
  const list = (root: string, folder: string, prefix: string) => {
    for (const found of readdirSync(folder, { withFileTypes: true })) {
      const name = `${prefix}${found.name}`;
      const path = `${folder}${sep}${found.name}`;
      const entry = found.isSymbolicLink() ? linkedEntry(path, folder) : found;
      if (entry?.isDirectory()) list(root, path, `${name}/`);
      if (!entry?.isFile()) continue;
      const kind = fileKind(found.name);
      if (kind === 'binary') continue;
      const isOther = kind === 'compressed' || kind === 'code' || isExcluded(name);
      const file = new OutputFile(root, name, isOther ? 'text' : kind);
      if (isLeftOut(file)) continue;
      if (kind === 'compressed') files.compressed.push(file);
      else if (isOther) files.others.push(file);
      else files.scannable.push(file);
    }
  };
  for (const directory of directories) {
    const root = directory.endsWith(sep) ? directory.slice(0, -1) : directory;
    list(root, root, '');
  }
  const byName = (a: SiteFile, b: SiteFile) => (a.name < b.name ? -1 : 1);
  for (const found of Object.values(files) as SiteFile[][]) found.sort(byName);
  return files;
}

/** What a link leads to: servers follow it. `undefined` where there is nothing, or a folder that the link is in. */
function linkedEntry(path: string, folder: string): Stats | undefined {
  const entry = statSync(path, { throwIfNoEntry: false });
  return entry?.isDirectory() && contains(realpathSync(path), realpathSync(folder)) ? undefined : entry;
}

/** A file that contains embeds. */
export interface EmbeddingFile {
  source: ScannableFile;
  embeds: readonly FileEmbed[];
  /** The file's bytes if they are kept in memory; otherwise it is read again. */
  bytes?: Buffer | undefined;
}

export interface ScannedSite {
  /** Files with at least one embed, even if it is invalid. */
  files: EmbeddingFile[];
  /** The ids of snippets in headings of pages. */
  idsInHeadings: Set<number>;
  /** In the order in which the files show them. */
  uses: SnippetUse[];
  invalid: InvalidEmbed[];
  warnings: string[];
}

/**
 * Returns a function that tells whether a file is excluded, so that its embeds are examples.
 *
 * @param patterns glob patterns for paths in the output folder.
 */
export function excluder(patterns: readonly string[]): (name: string) => boolean {
  return patterns.length === 0 ? () => false : picomatch([...patterns]);
}

/** What scanning a site needs, and whom it tells. */
export interface Scanning {
  settings: Settings;
  /** What makes its requests early. */
  fetcher: SnippetFetcher;
  verifier: OutputVerifier;
  urls: SiteUrls;
  /** Called with each file that contains no embed, and so is not changed. */
  onPlainFile?(file: ScannableFile): void;
  /** Called with each file that contains an embed, even if it is invalid, as it is before anything is fetched. */
  onEmbeddingFile?(file: ScannableFile, bytes: Buffer): void;
}

// Reading a page again takes as long as scanning it; keeping all pages of a large site takes too much memory.
const maxKeptBytes = 32 * 1024 * 1024;

/** Reads files and finds their embeds. Those without are checked for the API key. */
export async function scanSite(files: readonly ScannableFile[], scanning: Scanning): Promise<ScannedSite> {
  const { settings, fetcher, verifier, urls } = scanning;
  const { pageParams, readEmbeds } = await import('../snippets/file-embeds.ts');
  const uses: SnippetUses = new Map();
  const found: EmbeddingFile[] = [];
  const invalid: InvalidEmbed[] = [];
  const warnings: string[] = [];
  const idsInHeadings = new Set<number>();
  let keptBytes = 0;
  const look = (source: ScannableFile, bytes: Buffer): boolean => {
    const { name, kind, generated } = source;
    const addParams = settings.params && pageParams(settings.params, pathOfFile(name, kind === 'html', urls));
    const { embeds, ...flaws } = readEmbeds({ name, kind, bytes, addParams }, uses);
    for (const embed of flaws.invalid) invalid.push(embed);
    for (const warning of flaws.warnings) warnings.push(warning);
    if (embeds.length + flaws.invalid.length === 0) return false;
    scanning.onEmbeddingFile?.(source, bytes);
    for (const { request, inHeading } of embeds) {
      const use = uses.get(request.key);
      if (use?.places.length === 1) fetcher.prefetch(request);
      // What is shown already does not become children.
      if (generated !== undefined && use?.placesWithoutChildren.at(-1) !== name)
        use?.placesWithoutChildren.push(name);
      if (inHeading && kind === 'html') idsInHeadings.add(request.id);
    }
    keptBytes += bytes.length;
    found.push({ source, embeds, bytes: keptBytes > maxKeptBytes ? undefined : bytes });
    return true;
  };
  await inTurns(files, (source) => {
    const bytes = source.generated?.() ?? readEmbedding(source);
    if (bytes !== undefined && look(source, bytes)) return;
    scanning.onPlainFile?.(source);
    verifier.check(source, bytes);
  });
  return { files: found, idsInHeadings, uses: [...uses.values()], invalid, warnings };
}

/** Reads a file, unless it is large and contains no embed. */
export function readEmbedding({ file, name, kind }: ScannableFile): Buffer | undefined {
  const bytes = readUnlessLarge(file);
  if (bytes !== undefined) return bytes;
  if (isLargeBinary(file) || !searchFile(file, overlaps.embed, (piece) => mayHoldEmbeds(piece, kind)))
    return undefined;
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`${name} contains an embed and could not be read: ${(error as Error).message}`);
  }
}
