import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Manifest, readManifest, shownOn, writeManifest } from '../../src/record/manifest.ts';

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'snippets-manifest-'));
  file = join(folder, 'manifest.json');
});
afterAll(() => rm(folder, { recursive: true }));

const small: Manifest = {
  builtAt: '2030-01-02T03:04:05.000Z',
  output: '../dist',
  settings: { concurrency: 20 },
  rules: { sanitizes: false, scripts: 'allow', strict: false, policy: 'none' },
  snippets: [{ id: 7, params: '{"plan":"pro"}' }, { id: 8 }],
  kinds: [
    { snippet: 0, form: { as: 'html', layers: ['json'] }, content: 'old', length: 5 },
    { snippet: 0, form: { as: 'html', layers: ['json'] }, content: 'new', length: 6 },
    { snippet: 1, form: { as: 'text', layers: [], paragraph: { before: '<p>', after: '</p>' } }, length: 3 },
  ],
  files: [
    { name: 'a.html', hash: 'a', places: [0, 10, 2, 1] },
    { name: 'b.json', hash: 'b', places: [0, 0], next: { hash: 'c', places: [1, 0] } },
    { name: 'c.html', hash: 'd', places: [2, 0], policies: [{ start: 1, end: 2, tag: '<meta>' }] },
  ],
  collections: [{ collection: 'legal', entry: 'imprint', snippet: 1, content: 'x' }],
};

test('a manifest is the same after it was written and read', async () => {
  await writeManifest(file, small);
  expect(await readManifest(file)).toEqual({ manifest: small });
});

test('a snippet is shown in files and in collections', () => {
  expect(shownOn(small)).toEqual([
    { pages: ['a.html', 'b.json'], collections: [] },
    { pages: ['a.html', 'c.html'], collections: [{ collection: 'legal', entry: 'imprint' }] },
  ]);
});

test.each<[string, Partial<Record<keyof Manifest, unknown>>]>([
  ['a kind of a snippet that does not exist', { kinds: [...small.kinds, { ...small.kinds[0], snippet: 2 }] }],
  ['a kind with a negative length', { kinds: [...small.kinds, { ...small.kinds[0], length: -1 }] }],
  ['places of a kind that does not exist', { files: [['a.html', 'a', [3, 0]]] }],
  ['half a place', { files: [['a.html', 'a', [0]]] }],
  ['a negative gap', { files: [['a.html', 'a', [0, -1]]] }],
  ['a gap beyond safe integers', { files: [['a.html', 'a', [0, 2 ** 60]]] }],
  ['a file without places', { files: [['a.html', 'a']] }],
  ['a file that is no list', { files: [{ name: 'a.html', hash: 'a', places: [0, 0] }] }],
  ['a refresh to no kind', { files: [['a.html', 'a', [0, 0], { next: { hash: 'b', places: [9, 0] } }]] }],
  ['an entry of no snippet', { collections: [{ ...small.collections[0], snippet: 2 }] }],
  ['no collections', { collections: undefined }],
])('a manifest with %s is damaged', async (_what, more) => {
  const files = small.files.map(({ name, hash, places }) => [name, hash, places]);
  await writeFile(file, JSON.stringify({ version: 9, ...small, files }));
  expect((await readManifest(file)).flaw).toBeUndefined();
  await writeFile(file, JSON.stringify({ version: 9, ...small, files, ...more }));
  expect(await readManifest(file)).toEqual({ flaw: 'damaged' });
});

test.each<[string, string, string]>([
  ['that is cut off', JSON.stringify({ version: 9, ...small }).slice(0, 99), 'damaged'],
  ['that is empty', '', 'damaged'],
  ['of another shape', '{}', 'damaged'],
  ['of version 4', JSON.stringify({ ...small, version: 4 }), 'other-version'],
  ['of a later version', '{"version":10}', 'other-version'],
])('a manifest %s cannot be used, and is %s', async (_what, text, flaw) => {
  await writeFile(file, text);
  expect(await readManifest(file)).toEqual({ flaw });
});

test('a manifest that does not exist is absent', async () => {
  expect(await readManifest(join(folder, 'nowhere.json'))).toEqual({ flaw: 'absent' });
});
