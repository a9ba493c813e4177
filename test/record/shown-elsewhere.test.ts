import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseRequest } from '../../src/client/snippet-request.ts';
import { type Manifest, writeManifest } from '../../src/record/manifest.ts';
import { shownElsewhere } from '../../src/record/shown-elsewhere.ts';

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'snippets-elsewhere-'));
  file = join(folder, 'manifest.json');
});
afterAll(() => rm(folder, { recursive: true }));

const place = (snippet: number) => ({ snippet, form: { as: 'html' as const, layers: [] }, length: 1 });

const manifest: Manifest = {
  builtAt: '2030-01-02T03:04:05.000Z',
  output: '../dist',
  settings: { concurrency: 20 },
  rules: { sanitizes: false, scripts: 'allow', strict: false, policy: 'none' },
  snippets: [{ id: 7, params: '{"plan":"pro"}' }, { id: 7 }, { id: 8 }],
  kinds: [place(0), place(1), place(2)],
  files: [
    { name: 'a.html', hash: '', places: [1, 0] },
    { name: 'b.html', hash: '', places: [0, 0, 1, 0] },
    { name: 'c.json', hash: '', places: [0, 0] },
    { name: 'own.html', hash: '', places: [0, 0] },
    { name: 'other.html', hash: '', places: [2, 0] },
  ],
  collections: [
    { collection: 'texts', entry: 'price', snippet: 0, content: 'x' },
    { collection: 'texts', entry: 'other', snippet: 2, content: 'x' },
  ],
};

const pro = parseRequest('7', '{"plan":"pro"}');
const find = () => shownElsewhere(file, pro, (name) => `/${name}`, '/own.html');

test('the other pages of a snippet are those of the last build, those with other params last', async () => {
  await writeManifest(file, manifest);
  expect(await find()).toEqual({
    builtAt: Date.parse('2030-01-02T03:04:05.000Z'),
    pages: [
      { path: '/b.html', hasOtherParams: false },
      { path: '/c.json', hasOtherParams: false },
      { path: '/a.html', hasOtherParams: true },
    ],
    more: 0,
    entries: ['texts (collection), entry "price"'],
  });
});

test('of a snippet on very many pages, a hundred are named, and the rest counted', async () => {
  const files = Array.from({ length: 250 }, (_, index) => ({
    name: `${index}.html`,
    hash: '',
    places: [0, 0],
  }));
  await writeManifest(file, { ...manifest, files });
  const { pages, more } = await find();
  expect([pages.length, more]).toEqual([100, 150]);
});

test('without a usable record of a build, the reason is said', async () => {
  await writeFile(file, '{');
  expect((await find()).flaw).toContain('is damaged');
  await writeFile(file, '{"version":1}');
  expect((await find()).flaw).toContain('another version of astro-snippets');
  await rm(file);
  expect(await find()).toEqual({
    flaw: 'There is no record of a build yet. Run astro build once.',
    pages: [],
    more: 0,
    entries: [],
  });
});
