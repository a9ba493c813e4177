import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, extname, isAbsolute, join, relative, sep } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { reasonOf } from '../client/text.ts';
import type { FileKind } from '../embed/scan.ts';
import { userError } from '../failures/errors.ts';

/** With slashes, on all systems. */
export const pathFrom = (folder: string, path: string) => relative(folder, path).replaceAll(sep, '/');

/** As messages show it. */
export const shownPath = (cwd: string, path: string) => pathFrom(cwd, path) || '.';

/** Whether a path is a folder, or something in it. */
export function contains(folder: string, path: string) {
  const inside = relative(folder, path);
  return !isAbsolute(inside) && inside !== '..' && !inside.startsWith(`..${sep}`);
}

type Kind = FileKind | 'code' | 'compressed' | 'binary';

// Everything else counts as text, so that an unknown format is searched.
const kindsByExtension: [kind: Kind, extensions: RegExp][] = [
  ['html', /^\.(?:html?|xhtml)$/i],
  ['xml', /^\.(?:xml|rss|atom|rdf|svg|xslt?|kml|gpx|opml)$/i],
  ['json', /^\.(?:json|jsonl|ndjson|webmanifest|geojson|jsonld)$/i],
  ['code', /^\.(?:[cm]?js|css|map)$/i],
  // What servers may send in the place of the file beside it.
  ['compressed', /^\.(?:br|gz|zst)$/i],
  [
    'binary',
    /^\.(?:avif|bmp|eot|gif|heic|ico|jpe?g|jxl|mov|mp[34]|ogg|otf|pack|pdf|png|tar|tiff?|ttf|wasm|wav|web[mp]|woff2?|zip)$/i,
  ],
];

export function fileKind(name: string) {
  const extension = extname(name);
  return kindsByExtension.find(([, extensions]) => extensions.test(extension))?.[0] ?? 'text';
}

const KiB = 1024;
const largeSize = 8 * 1024 * KiB;
// Small: a piece as a string is soon collected as garbage.
const readSize = 64 * KiB;
// People write no text of that size.
const binarySize = 64 * 1024 * KiB;
// File systems have a coarser clock than `Date.now()`.
const clockGranularity = 50;
const turnMilliseconds = 10;

/** The bytes that two pieces share: more than what is searched for can take. */
export const overlaps = { key: 64 * KiB, embed: KiB, revision: 8 * KiB };

// For all small files: garbage outside of the heap is collected late.
const scratchBuffer = Buffer.allocUnsafeSlow(64 * KiB);

/** Reads a file; `undefined` for a large one, which is read in pieces. Valid until the next file is read. */
export function readUnlessLarge(file: string) {
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    return size > largeSize ? undefined : readOpened(descriptor, size);
  } finally {
    closeSync(descriptor);
  }
}

/** With its size, for which readFileSync would ask again. Valid until the next file is read. */
export function readOpened(descriptor: number, size: number) {
  const bytes = size > scratchBuffer.length ? Buffer.allocUnsafe(size) : scratchBuffer;
  let length = 0;
  for (let read = -1; read !== 0 && length < size; length += read) {
    read = readSync(descriptor, bytes, length, size - length, length);
  }
  return bytes.subarray(0, length);
}

/** Too large, and too unlike text, to be searched for embeds. */
export function isLargeBinary(file: string) {
  if (statSync(file).size <= binarySize) return false;
  const [start] = piecesOf(file, 0);
  return start?.includes(0) ?? false;
}

/** Reads a file of any size. A piece is valid until the next, and begins with the end of the one before. */
export function* piecesOf(file: string, overlap: number) {
  const descriptor = openSync(file, 'r');
  try {
    const buffer = Buffer.allocUnsafe(readSize + overlap);
    for (let kept = 0; ; ) {
      const read = readSync(descriptor, buffer, kept, readSize, null);
      if (read === 0) return;
      const piece = buffer.subarray(0, kept + read);
      yield piece;
      kept = Math.min(overlap, piece.length);
      piece.copyWithin(0, piece.length - kept);
    }
  } finally {
    closeSync(descriptor);
  }
}

export const statsOf = (file: string) => statSync(file, { throwIfNoEntry: false });

/** Whether a file was written since a time, in milliseconds since the epoch, or just before it. */
export function wasWrittenAfter(file: Stats | undefined, since: number) {
  // A copy may keep the other time of its original.
  return file !== undefined && file.ctimeMs >= since - clockGranularity;
}

/** Synchronous work on files is several times as fast. The network gets its turns. */
export async function forEachYielding<T>(items: readonly T[], work: (item: T) => void) {
  let turnEnds = performance.now() + turnMilliseconds;
  for (const item of items) {
    work(item);
    if (performance.now() < turnEnds) continue;
    await nextTurn();
    turnEnds = performance.now() + turnMilliseconds;
  }
}

const temporarySuffix = '.snippets.tmp';

/**
 * Writes a file and its folder: a reader sees the old bytes or the new ones, even if the process is killed. Permissions stay.
 *
 * @param temporary is written first. In the output, it needs a name by which it is found if it is left.
 */
export function writeAtomically(
  file: string,
  bytes: Uint8Array | string,
  temporary = `${file}.${randomUUID()}.tmp`,
) {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(temporary, bytes);
    copyMode(file, temporary);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw writeError(file, error, 'It stays as it was.');
  }
}

/** Gives a file the permissions of another, if it exists: the umask may keep a write from it. */
function copyMode(from: string, to: string) {
  const mode = statsOf(from)?.mode;
  // Not all file systems have modes to change.
  if (mode && mode !== statSync(to).mode) chmodSync(to, mode & 0o777);
}

/** A fixed name, so that what a killed process leaves is found and removed. */
export const temporaryFile = (file: string) => file + temporarySuffix;

export const isTemporary = (name: string) => name.endsWith(temporarySuffix);

/** @param outcome what became of the file, as a sentence */
export const writeError = (file: string, error: unknown, outcome: string) =>
  userError('unwritable-file', `${file} could not be written: ${reasonOf(error)}. ${outcome}`);

/** Files that are written beside those they replace: all fit on the disk before one is replaced. */
export class StagedFiles {
  readonly #targets = new Set<string>();
  #newFolders: string[] = [];

  /** @param like a file whose permissions it gets. */
  add(target: string, bytes: Buffer, like = target) {
    const temporary = temporaryFile(target);
    if (statsOf(target)?.size === bytes.length && readFileSync(target).equals(bytes)) {
      // A run that was killed may have left it.
      rmSync(temporary, { force: true });
      return;
    }
    try {
      const folder = mkdirSync(dirname(target), { recursive: true });
      if (folder) this.#newFolders.push(folder);
      this.#targets.add(target);
      writeFileSync(temporary, bytes);
      copyMode(like, temporary);
    } catch (error) {
      throw writeError(target, error, 'Nothing was changed.');
    }
  }

  read(target: string) {
    return readFileSync(this.#targets.has(target) ? temporaryFile(target) : target);
  }

  async commit(targets: Iterable<string> = this.#targets) {
    this.#newFolders = [];
    await forEachYielding([...targets], (target) => {
      if (this.#targets.delete(target)) renameSync(temporaryFile(target), target);
    });
  }

  discard() {
    for (const target of this.#targets) rmSync(temporaryFile(target), { force: true });
    for (const folder of this.#newFolders) rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes the images of contents into asset folders, unless they are there: names change with bytes. */
export async function writeImages(
  folders: readonly string[],
  contents: Iterable<{ images?: readonly { copy?: { file: string } | undefined }[] | undefined } | undefined>,
  read: (name: string) => Promise<Uint8Array | undefined>,
) {
  for (const folder of folders.filter(existsSync)) {
    // Left by a process that was killed.
    for (const name of readdirSync(folder).filter(isTemporary)) rmSync(join(folder, name), { force: true });
  }
  const images = [...contents].flatMap((content) => content?.images ?? []);
  for (const name of new Set(images.flatMap(({ copy }) => copy?.file ?? []))) {
    for (const file of folders.map((folder) => join(folder, name))) {
      if (existsSync(file)) continue;
      const bytes = await read(name);
      // It was in the cache a moment ago.
      if (!bytes) throw new Error(`The image ${name} is no longer in the cache. Try again.`);
      writeAtomically(file, bytes, temporaryFile(file));
    }
  }
}
