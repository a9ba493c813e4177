import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { inlineFolder } from '../../src/build/inline-folder.ts';
import { hashOf, type Manifest, readManifest } from '../../src/record/manifest.ts';
import { planRefresh, writeRefresh } from '../../src/record/refresh.ts';
import { parseOptions } from '../../src/settings/options.ts';
import { resolveSettings } from '../../src/settings/settings.ts';
import type { FetchedSnippet } from '../../src/snippets/fetch-snippets.ts';
import { createFolder, type Folder } from '../support/folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

const names = ['a.html', 'b.html', 'c.html', 'd.html'];
const pageOf = (name: string, content: string) => `<p>${name} ${content}</p>`;
const published = '<i>new</i>';
const { length } = pageOf('a.html', published);
const content: FetchedSnippet = {
  content: published,
  html: published,
  text: 'new',
  variant: 'render',
  milliseconds: 1,
  warnings: [],
  inlineCode: undefined,
};

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ 1: '<b>old</b>' });
});
afterAll(() => service.close());

/** A folder of pages with compressed copies, a feed, and a file with the digest of the last page. */
async function inlinedFolder() {
  const embed = '<snippet-embed id="1"></snippet-embed>';
  const pages = names.map((name) => [name, pageOf(name, embed)] as const);
  const old = pageOf('d.html', '<b>old</b>');
  const folder = await createFolder({
    ...Object.fromEntries(pages.map(([name, page]) => [`public/${name}`, page])),
    ...Object.fromEntries(pages.map(([name, page]) => [`public/${name}.gz`, gzipSync(page)])),
    'public/feed.json': JSON.stringify({ title: embed }),
    'public/digests.txt': hash('sha256', old, 'hex'),
  });
  onTestFinished(() => folder.remove());
  const to = join(folder.directory, 'public');
  const file = join(folder.directory, '.cache/astro-snippets/manifest.json');
  const settings = resolveSettings(parseOptions({ ca: service.certificateAuthority }), service.environment);
  const logger = { info() {}, warn() {} };
  await inlineFolder({
    cwd: folder.directory,
    from: to,
    to,
    manifest: file,
    settings,
    environment: { mode: 'production' },
    logger,
  });
  return { folder, file, manifest: await readRecord(file) };
}

async function readRecord(file: string): Promise<Manifest> {
  const { manifest } = await readManifest(file);
  if (manifest === undefined) throw new Error('There is no record.');
  return manifest;
}

const compressed = ({ directory }: Folder, name: string) =>
  gunzipSync(readFileSync(join(directory, `public/${name}.gz`))).toString();

test.each([0, 2.5 * length])(
  'a refresh that keeps %d bytes of new pages leaves a page alone that was changed after its plan, and writes the others, their copies and a true record',
  async (maxKeptBytes) => {
    const { folder, file, manifest } = await inlinedFolder();
    const plan = await planRefresh(file, manifest, [content], { maxKeptBytes });
    expect(plan.stale).toMatchObject([{ name: 'digests.txt', page: 'd.html' }]);
    await folder.write({ 'public/b.html': 'changed by hand' });
    expect(await writeRefresh(file, manifest, [content], plan)).toEqual([
      { name: 'b.html', reason: 'was changed while it was refreshed' },
    ]);
    expect(await folder.read('public/b.html')).toBe('changed by hand');
    for (const name of ['a.html', 'c.html', 'd.html']) {
      expect(await folder.read(`public/${name}`)).toBe(pageOf(name, published));
      expect(compressed(folder, name)).toBe(pageOf(name, published));
    }
    expect(JSON.parse(await folder.read('public/feed.json'))).toEqual({ title: published });
    const { files } = await readRecord(file);
    const old = hashOf(pageOf('b.html', '<b>old</b>'));
    for (const { name, hash: recorded, next } of files) {
      const now = hashOf(await folder.read(`public/${name}`));
      expect(recorded, name).toBe(name === 'b.html' ? old : now);
      expect(next).toBeUndefined();
    }
  },
);
