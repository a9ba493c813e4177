import { statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { finalizeFiles } from '../../src/output/final-files.ts';
import { OutputListing } from '../../src/output/output-listing.ts';
import { hashOf } from '../../src/record/hash-of.ts';
import type { Manifest, RecordedFile } from '../../src/record/manifest.ts';
import { type Folder, folderWith } from '../support/site/folder.ts';

/** The pages of a record, with their texts. Each is found again by the offset that it has in the pack. */
const pages = { 'index.html': 'one', 'a/index.html': 'same', 'b/index.html': 'same', 'feed.xml': 'four' };

/** What a later step does, where each page then is, and the names of those that are removed. */
const steps: [
  what: string,
  step: (folder: Folder) => Promise<unknown>,
  names: string[],
  removed: string[],
][] = [
  ['nothing', async () => {}, Object.keys(pages), []],
  [
    'pages with equal bytes are moved',
    async (folder) => {
      await move(folder, 'b/index.html', 'b.html');
      await move(folder, 'a/index.html', 'a.html');
    },
    ['index.html', 'a.html', 'b.html', 'feed.xml'],
    [],
  ],
  [
    'a page takes the place of another one, which is lost',
    (folder) => move(folder, 'feed.xml', 'index.html'),
    ['a/index.html', 'b/index.html', 'index.html (changed)'],
    ['index.html'],
  ],
  [
    'pages change places in a circle',
    async (folder) => {
      await move(folder, 'index.html', 'home.html');
      await move(folder, 'b/index.html', 'index.html');
    },
    ['home.html', 'a/index.html', 'index.html', 'feed.xml'],
    [],
  ],
  [
    'a page is moved and changed',
    async (folder) => {
      await rm(join(folder.directory, 'index.html'));
      await folder.write({ 'home.html': 'one, minified' });
    },
    ['index.html (removed)', 'a/index.html', 'b/index.html', 'feed.xml'],
    ['index.html'],
  ],
  [
    'a page is removed that another one equals',
    (folder) => rm(join(folder.directory, 'a/index.html')),
    ['index.html', 'a/index.html (removed)', 'b/index.html', 'feed.xml'],
    ['a/index.html'],
  ],
  [
    'a page is moved to another kind of file',
    (folder) => move(folder, 'index.html', 'index.txt'),
    ['index.txt (changed)', 'a/index.html', 'b/index.html', 'feed.xml'],
    [],
  ],
  [
    'a page is changed',
    (folder) => folder.write({ 'index.html': 'won' }),
    ['index.html (changed)', 'a/index.html', 'b/index.html', 'feed.xml'],
    [],
  ],
];

const move = ({ directory }: Folder, from: string, to: string) =>
  rename(join(directory, from), join(directory, to));

test.for(steps)(
  'the record follows its files to where they are after later steps: %s',
  async ([, step, names, removed]) => {
    const folder = await folderWith(pages);
    const listing = new OutputListing();
    const files = Object.entries(pages).map(([name, text], packOffset): RecordedFile => {
      const stats = statSync(join(folder.directory, name));
      listing.add(name, stats);
      const { size, mtimeMs: modifiedAt } = stats;
      return { name, hash: hashOf(text), shows: [], packOffset, packLength: 1, size, modifiedAt };
    });
    await step(folder);
    const present = (await folder.list()).map((name) => ({ name, file: join(folder.directory, name) }));
    const later = { listing, late: listing.removeChanged(present), compressed: [] };
    const final = await finalizeFiles(
      { output: folder.directory, files } as Partial<Manifest> as Manifest,
      later,
    );
    const describe = ({ name, changedAfterInlining, removedAfterInlining }: RecordedFile) =>
      `${name}${changedAfterInlining ? ' (changed)' : ''}${removedAfterInlining ? ' (removed)' : ''}`;
    expect(final.files.map(describe)).toEqual(names);
    expect(final.removed).toEqual(removed);
    const bytes = Object.values(pages);
    for (const { name, packOffset, changedAfterInlining, removedAfterInlining } of final.files) {
      if (removedAfterInlining || changedAfterInlining) continue;
      expect(await folder.files().then((texts) => texts[name])).toBe(bytes[packOffset]);
    }
  },
);
