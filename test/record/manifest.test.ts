import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FileRecorder } from '../../src/build/record-files.ts';
import { toRequest } from '../../src/client/snippet-request.ts';
import type { FoundEmbed } from '../../src/embed/found.ts';
import { withoutRules } from '../../src/html/rules.ts';
import { type Manifest, placesIn, readManifest, shownOn, writeManifest } from '../../src/record/manifest.ts';
import type { FetchedSnippet } from '../../src/snippets/fetch-snippets.ts';
import { type SnippetUses, snippetUse } from '../../src/snippets/file-embeds.ts';

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'snippets-manifest-'));
  file = join(folder, 'manifest.json');
});
afterAll(() => rm(folder, { recursive: true }));

const frame: Omit<Manifest, 'snippets' | 'kinds' | 'files' | 'collections'> = {
  builtAt: '2030-01-02T03:04:05.000Z',
  output: '../dist',
  settings: { concurrency: 20 },
  rules: { sanitizes: false, scripts: 'allow', strict: false, policy: 'none' },
};

const small: Manifest = {
  ...frame,
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

test('the places of a file have the bytes and the form that they were recorded with', () => {
  expect(placesIn(small, { hash: '', places: [0, 10, 2, 1] })).toEqual([
    { snippet: 0, form: { as: 'html', layers: ['json'] }, content: 'old', start: 10, end: 15 },
    {
      snippet: 1,
      form: { as: 'text', layers: [], paragraph: { before: '<p>', after: '</p>' } },
      start: 16,
      end: 19,
    },
  ]);
});

test('a snippet is shown in files and in collections', () => {
  expect(shownOn(small)).toEqual([
    { pages: ['a.html', 'b.json'], collections: [] },
    { pages: ['a.html', 'c.html'], collections: [{ collection: 'legal', entry: 'imprint' }] },
  ]);
});

test.each<[string, Partial<Record<keyof Manifest, unknown>>]>([
  ['a kind of a snippet that does not exist', { kinds: [...small.kinds, { ...small.kinds[0], snippet: 2 }] }],
  ['a kind whose children are no text', { kinds: [...small.kinds, { ...small.kinds[0], children: 1 }] }],
  ['a kind with a negative length', { kinds: [...small.kinds, { ...small.kinds[0], length: -1 }] }],
  ['a file with places of a kind that does not exist', { files: [['a.html', 'a', [3, 0]]] }],
  ['a file with half a place', { files: [['a.html', 'a', [0]]] }],
  ['a file with a negative gap', { files: [['a.html', 'a', [0, -1]]] }],
  ['a file without places', { files: [['a.html', 'a']] }],
  ['a file that is no list', { files: [{ name: 'a.html', hash: 'a', places: [0, 0] }] }],
  [
    'a refresh to a kind that does not exist',
    { files: [['a.html', 'a', [0, 0], { next: { hash: 'b', places: [9, 0] } }]] },
  ],
  [
    'a collection of a snippet that does not exist',
    { collections: [{ collection: 'legal', entry: 'imprint', snippet: 2, content: 'x' }] },
  ],
  ['no collections', { collections: undefined }],
])('a manifest with %s is damaged', async (_what, more) => {
  const files = small.files.map(({ name, hash, places }) => [name, hash, places]);
  await writeFile(file, JSON.stringify({ version: 8, ...small, files }));
  expect((await readManifest(file)).flaw).toBeUndefined();
  await writeFile(file, JSON.stringify({ version: 8, ...small, files, ...more }));
  expect(await readManifest(file)).toEqual({ flaw: 'damaged' });
});

const content = { hash: 'x', variant: 'render', fetchedAt: 0, bytes: 3, milliseconds: 1 };
const embed = { snippet: 0, start: 3, end: 6, content: 'x' };
const older = { ...frame, snippets: [{ id: 1, content }] };

test.each<[string, string, string]>([
  ['that is cut off', JSON.stringify({ version: 8, ...small }).slice(0, 99), 'damaged'],
  ['that is empty', '', 'damaged'],
  ['of another shape', '{}', 'damaged'],
  [
    'of version 3',
    JSON.stringify({
      version: 3,
      ...older,
      pages: [{ name: 'index.html', hash: 'x', embeds: [{ ...embed, asText: false }] }],
    }),
    'other-version',
  ],
  [
    'of version 4',
    JSON.stringify({
      version: 4,
      ...older,
      pages: [{ name: 'index.html', hash: 'x', embeds: [{ ...embed, form: { as: 'html', layers: [] } }] }],
    }),
    'other-version',
  ],
  ['of a later version', '{"version":9}', 'other-version'],
])('a manifest %s cannot be used, and is %s', async (_what, text, flaw) => {
  await writeFile(file, text);
  expect(await readManifest(file)).toEqual({ flaw });
});

test('a manifest that does not exist is absent', async () => {
  expect(await readManifest(join(folder, 'nowhere.json'))).toEqual({ flaw: 'absent' });
});

test('the manifest of 5,000 pages with 5 embeds each of 200 snippets takes at most 0.7 MB', async () => {
  const uses: SnippetUses = new Map();
  const snippets = new Map<string, FetchedSnippet>();
  const requests = Array.from({ length: 200 }, (_, index) => toRequest(index + 1, undefined));
  for (const request of requests) {
    snippetUse(uses, request);
    const text = 'x'.repeat(100 + (request.id % 50));
    const facts = { content: text, variant: 'render', fetchedAt: 1_800_000_000_000, milliseconds: 12.345678 };
    snippets.set(request.key, { ...facts, ...withoutRules(text) } as FetchedSnippet);
  }
  const recorder = new FileRecorder([...uses.values()], snippets, []);
  const paragraph = { before: '<p>', after: '</p>' };
  for (let page = 0; page < 5_000; page++) {
    const placed = Array.from({ length: 5 }, (_, at) => {
      const request = requests[(page * 5 + at * 7) % 200] ?? toRequest(1, undefined);
      const start = at * 1_000 + (page % 600);
      const form: FoundEmbed['form'] = { as: 'html', layers: [], ...(at % 2 === 0 ? { paragraph } : {}) };
      const embed = { form, request } as FoundEmbed & { request: typeof request };
      return { embed, start, end: start + 100 + (request.id % 50) };
    });
    const inlined = { file: Buffer.from(`${page}`), placed, policies: [], otherPlaces: [] };
    recorder.add(`blog/post-number-${page}/index.html`, inlined);
  }
  await writeManifest(file, { ...frame, ...recorder.record });
  expect((await stat(file)).size).toBeLessThan(700_000);
  const { manifest } = await readManifest(file);
  expect(manifest?.files.reduce((sum, { places }) => sum + places.length / 2, 0)).toBe(25_000);
});
