import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { reasonOf } from '../client/text.ts';
import { type UserError, userError } from '../failures/errors.ts';
import { inTurns, statsOf } from './read.ts';

const suffix = '.snippets.tmp';

/**
 * Writes a file, with its folder, as a whole: a reader sees all of the old bytes or all of the new ones, even if the
 * process is killed. Its permissions stay.
 *
 * @param temporary the file that is written first. In the output, it needs a name by which it is found if it is left.
 */
export function writeAtomically(
  file: string,
  bytes: Uint8Array | string,
  temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`,
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

/** Gives a file the permissions of another one, if that exists: writing it does not, because of the umask. */
export function copyMode(from: string, to: string) {
  const mode = statsOf(from)?.mode;
  // Not all file systems have modes to change.
  if (mode !== undefined && mode !== statSync(to).mode) chmodSync(to, mode & 0o777);
}

/** A fixed name, so that a file left behind by a killed process is found and removed. */
export function temporaryFile(file: string): string {
  return file + suffix;
}

export function isTemporary(name: string): boolean {
  return name.endsWith(suffix);
}

/** @param outcome what became of the file, as a sentence. */
export function writeError(file: string, error: unknown, outcome: string): UserError {
  return userError('unwritable-file', `${file} could not be written: ${reasonOf(error)}. ${outcome}`);
}

/** Files that are written beside those they replace: all find room on the disk before any is replaced. */
export class StagedFiles {
  readonly #targets = new Set<string>();
  #newFolders: string[] = [];

  /** @param like a file whose permissions it gets. */
  add(target: string, bytes: Buffer, like = target) {
    const { size } = statsOf(target) ?? {};
    if (size === bytes.length && readFileSync(target).equals(bytes)) {
      // A run that was killed may have left it.
      rmSync(temporaryFile(target), { force: true });
      return;
    }
    try {
      const folder = mkdirSync(dirname(target), { recursive: true });
      if (folder !== undefined) this.#newFolders.push(folder);
      this.#targets.add(target);
      writeFileSync(temporaryFile(target), bytes);
      copyMode(like, temporaryFile(target));
    } catch (error) {
      throw writeError(target, error, 'Nothing was changed.');
    }
  }

  read(target: string): Buffer {
    return readFileSync(this.#targets.has(target) ? temporaryFile(target) : target);
  }

  async commit(targets: Iterable<string> = this.#targets) {
    this.#newFolders = [];
    await inTurns([...targets], (target) => {
      if (this.#targets.delete(target)) renameSync(temporaryFile(target), target);
    });
  }

  discard() {
    for (const target of this.#targets) rmSync(temporaryFile(target), { force: true });
    for (const folder of this.#newFolders) rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes the images of contents into folders of assets, unless they are there: names change with bytes. */
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
      if (bytes === undefined) throw new Error(`The image ${name} is no longer in the cache. Try again.`);
      writeAtomically(file, bytes, temporaryFile(file));
    }
  }
}
