import { existsSync, readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isTemporary, temporaryFile, writeAtomically } from '../write-atomically.ts';

/**
 * Writes images into folders of assets, unless they are there: their names change with their bytes.
 *
 * @param read returns the bytes of an image of this run, by its name.
 * @throws AstroError that says which file could not be written.
 */
export async function writeImages(
  folders: readonly string[],
  names: Iterable<string>,
  read: (name: string) => Promise<Uint8Array | undefined>,
): Promise<void> {
  for (const name of names) {
    const missing = folders.map((folder) => join(folder, name)).filter((file) => !existsSync(file));
    if (missing.length === 0) continue;
    const bytes = await read(name);
    // It was in the cache a moment ago.
    if (bytes === undefined) throw new Error(`The image ${name} is no longer in the cache. Try again.`);
    for (const folder of folders) await mkdir(folder, { recursive: true });
    for (const file of missing) await writeAtomically(file, Buffer.from(bytes), temporaryFile(file));
  }
}

/** What {@link writeImages} has left in these folders, if its process was killed. */
export function listTemporaryImages(folders: readonly string[]): string[] {
  return folders.flatMap((folder) => {
    const names = existsSync(folder) ? readdirSync(folder) : [];
    return names.filter(isTemporary).map((name) => join(folder, name));
  });
}
