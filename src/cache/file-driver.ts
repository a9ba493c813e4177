import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Driver, defineDriver } from 'unstorage';
import fsLite, { type FSStorageOptions } from 'unstorage/drivers/fs-lite';
import { writeAtomically } from '../write-atomically.ts';

/** unstorage's driver for files, but that a file is replaced as a whole: a build that is killed leaves no half. */
export const fileDriver = defineDriver((options: FSStorageOptions & { base: string }): Driver => {
  let made: Promise<unknown> | undefined;
  return {
    ...fsLite(options),
    async setItem(key, value) {
      made ??= mkdir(options.base, { recursive: true });
      await made;
      await writeAtomically(join(options.base, key), value);
    },
  };
});
