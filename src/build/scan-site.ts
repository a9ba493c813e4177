import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import picomatch from 'picomatch';
import { keySearch } from '../client/text.ts';
import { mayHold } from '../embed/element.ts';
import type { FileKind } from '../embed/scan.ts';
import { describeNote, type InvalidEmbed, userError } from '../failures/errors.ts';
import {
  contains,
  fileKind,
  forEachYielding,
  isLargeBinary,
  overlaps,
  piecesOf,
  readUnlessLarge,
  statsOf,
} from '../files/files.ts';
import { pathOfFile } from '../settings/site-urls.ts';
import type { FileEmbed, SnippetUses } from '../snippets/file-embeds.ts';
import type { GeneratedSite } from './inline-snippets.ts';

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
interface OtherFile extends SiteFile {
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
export function listSiteFiles(folders: string[], exclude: string[], isLeftOut = (_: SiteFile) => false) {
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

export type ScannedSite = Awaited<ReturnType<typeof scanSite>>;

/** Reads files and finds their embeds. Those without are checked for the API key. */
export async function scanSite(scannable: readonly ScannableFile[], site: GeneratedSite) {
  const { settings, fetcher, verifier, urls, logger, search } = site;
  const { params } = settings;
  const { pageParams, readEmbeds } = await import('../snippets/file-embeds.ts');
  const startedAt = Date.now();
  const uses: SnippetUses = new Map();
  const invalid: InvalidEmbed[] = [];
  /** Those with an embed, even if it is invalid. */
  const files: (ScannableFile & { embeds: readonly FileEmbed[]; size: number })[] = [];
  await forEachYielding(scannable, (source) => {
    const { name, kind, generated } = source;
    const bytes = generated?.() ?? readEmbedding(source);
    if (!bytes) return verifier.check(source, bytes);
    const addParams = params && pageParams(params, pathOfFile(name, kind === 'html', urls));
    const known = uses.size;
    const found = readEmbeds({ name, kind, bytes, addParams, isInlined: !!generated }, uses);
    for (const note of found.warnings) logger.warn(describeNote(note, search?.whereWritten));
    const { embeds } = found;
    if (embeds.length + found.invalid.length === 0) return verifier.check(source, bytes);
    for (const embed of found.invalid) invalid.push(embed);
    for (const { request } of uses.size > known ? embeds : [])
      if (uses.get(request.key)?.places.length === 1) fetcher.answers.prefetch(request);
    files.push(Object.assign(source, { embeds, size: bytes.length }));
  });
  return { startedAt, files, invalid, uses: [...uses.values()] };
}

/** Reads a file, unless it is large and contains no embed. */
function readEmbedding({ file, name }: SiteFile) {
  const bytes = readUnlessLarge(file);
  if (bytes) return bytes;
  if (isLargeBinary(file)) return undefined;
  if (!piecesOf(file, overlaps.embed).some((piece) => mayHold(piece.toString('latin1')))) return undefined;
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`${name} contains an embed and could not be read: ${(error as Error).message}`);
  }
}

// With an id: a script may name the element, such as to style it.
const embedInCode =
  /snippet-embed(?<=(?:<|lt;|3c)snippet-embed)(?:\s|%20)[^<>]{0,300}?(?<![a-z])id\s*(?:=|%3d)(?:[\s\\"'{]|&#?\w+;|%\w\w)*\d/i;

const codeWarning =
  'holds an embed, which stays as it is. No snippet is inlined in scripts and style sheets. Write JSON instead, such as search.json, and let the script load that.';

export class OutputVerifier {
  readonly #containsKey: (text: Buffer) => boolean;
  readonly withKey: SiteFile[] = [];
  readonly #code: OtherFile[] = [];

  constructor(apiKey?: string) {
    this.#containsKey = apiKey === undefined ? () => false : keySearch(apiKey).isIn;
  }

  /** @param bytes `undefined` for a large file. */
  check(file: SiteFile, bytes: Buffer | undefined) {
    const pieces = bytes ? [bytes].values() : piecesOf(file.file, overlaps.key);
    if (pieces.some((piece) => this.#containsKey(piece))) this.withKey.push(file);
  }

  /** Whether a file may contain embeds. It is checked, too. */
  mayEmbed(file: SiteFile) {
    const bytes = readEmbedding(file);
    this.check(file, bytes);
    return bytes !== undefined && mayHold(bytes.toString('latin1'));
  }

  /** About scripts and style sheets with an embed that still exist. */
  codeWarnings() {
    const names = this.#code.flatMap(({ file, name }) => (existsSync(file) ? name : []));
    return [...new Set(names)].map((name) => `${name}: ${codeWarning}`);
  }

  async read(files: readonly OtherFile[]) {
    await forEachYielding(files, (file) => {
      const bytes = readUnlessLarge(file.file);
      this.check(file, bytes);
      if (file.isCode && embedInCode.test(bytes?.toString('latin1') ?? '')) this.#code.push(file);
    });
  }

  refuse(describe: (names: string) => string) {
    if (this.withKey.length === 0) return;
    throw userError('published-key', describe(this.withKey.map(({ name }) => name).join(', ')));
  }
}
