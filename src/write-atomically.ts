import { randomBytes } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';

/**
 * Whoever reads the file reads all of the old bytes or all of the new ones, whenever this is killed.
 *
 * @param temporary what is written first. Where it could stay behind in the output, its name has to be known.
 */
export async function writeAtomically(
  file: string,
  bytes: Buffer | string,
  temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`,
): Promise<void> {
  try {
    await writeFile(temporary, bytes);
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
