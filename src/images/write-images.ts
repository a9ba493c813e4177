import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ImageUse } from '../content/images.ts';
import { isTemporary, temporaryFile, writeAtomically } from '../files/write.ts';

/** The part of a snippet's content, or of its record, that names its images. */
interface ContentWithImages {
  images?: readonly Pick<ImageUse, 'copy'>[] | undefined;
}

/**
 * Writes the images of contents into folders of assets. Names contain a hash of
 * the bytes, so a file that exists is not written again.
 *
 * @param read returns the bytes of an image in the cache, by its file name.
 */
export async function writeImages(
  folders: readonly string[],
  contents: Iterable<ContentWithImages | undefined>,
  read: (name: string) => Promise<Uint8Array | undefined>,
): Promise<void> {
  for (const folder of folders.filter(existsSync)) {
    // Temporary files remain only from a process that was killed while it wrote.
    for (const name of readdirSync(folder).filter(isTemporary)) rmSync(join(folder, name), { force: true });
  }

  const images = [...contents].flatMap((content) => content?.images ?? []);
  const names = new Set(images.flatMap(({ copy }) => copy?.file ?? []));
  for (const name of names) {
    for (const file of folders.map((folder) => join(folder, name))) {
      if (existsSync(file)) continue;
      const bytes = await read(name);
      // The image was in the cache a moment ago, so the cache has been emptied since.
      if (!bytes) throw new Error(`The image ${name} is no longer in the cache. Try again.`);
      writeAtomically(file, bytes, temporaryFile(file));
    }
  }
}
