import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isTemporary, temporaryFile, writeAtomically } from '../files/write.ts';

/** Writes the images of contents into asset folders, unless they are there: names change with bytes. */
export async function writeImages(
  folders: readonly string[],
  contents: Iterable<{ images?: readonly { copy?: { file: string } | undefined }[] | undefined } | undefined>,
  read: (name: string) => Promise<Uint8Array | undefined>,
): Promise<void> {
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
