import type { Stats } from 'node:fs';
import { appendFile, link, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { OutputListing } from '../../src/output/output-listing.ts';
import { type Folder, folderWith } from '../support/site/folder.ts';

/** What may be done to a file of five bytes after it was listed, and whether it is still as listed. */
const changes: [
  what: string,
  change: (file: string, folder: Folder) => Promise<unknown>,
  isAsListed: boolean,
][] = [
  ['nothing', async () => {}, true],
  ['another file is written', (_, folder) => folder.write({ 'other.txt': 'other' }), true],
  ['it is written with the same bytes', (file) => writeFile(file, 'first'), false],
  ['it grows', (file) => appendFile(file, '!'), false],
  [
    'it is written with as many bytes, and gets its old time back',
    async (file) => {
      const { atime, mtime } = await stat(file);
      await writeFile(file, 'other');
      await utimes(file, atime, mtime);
    },
    false,
  ],
  [
    'another file of its size and time takes its place',
    async (file, folder) => {
      const { atime, mtime } = await stat(file);
      await folder.write({ 'other.txt': 'other' });
      await utimes(join(folder.directory, 'other.txt'), atime, mtime);
      await rename(join(folder.directory, 'other.txt'), file);
    },
    false,
  ],
  ['it gets a second name', (file, { directory }) => link(file, join(directory, 'b')), false],
];

test.for(changes)(
  'a file is known by what the file system says of it: %s',
  async ([, change, isAsListed]) => {
    const folder = await folderWith({ 'a.txt': 'first' });
    const file = join(folder.directory, 'a.txt');
    const listing = OutputListing.ofFolder(folder.directory);
    // A change within a tick of the disk's clock is not visible.
    await setTimeout(30);
    await change(file, folder);
    expect(listing.isAsListed('a.txt', await stat(file))).toBe(isAsListed);
    expect(listing.isAsListed('b.txt', await stat(file))).toBe(false);
    expect(listing.isAsListed('a.txt', undefined)).toBe(false);
  },
);

test.for<[what: string, time: number, latest: number, mayHaveChanged: boolean]>([
  ['well before the last one', 1_000.5, 1_200.5, false],
  ['just before the last one', 1_000.5, 1_040.5, true],
  ['as the last one', 1_000.5, 1_000.5, true],
  ['in the second before, where times are whole seconds', 1_000, 2_000, true],
  ['long before, where times are whole seconds', 1_000, 9_000, false],
])('a file that was listed %s may have changed since: %s, %s', ([, time, latest, mayHaveChanged]) => {
  const stats = (ctimeMs: number) => ({ size: 1, mtimeMs: 1, ctimeMs }) as Stats;
  const listing = new OutputListing();
  listing.add('a.txt', stats(time));
  listing.add('b.txt', stats(latest));
  expect(listing.mayHaveChanged('a.txt', stats(time))).toBe(mayHaveChanged);
});
