import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { inlineFolder } from '../../src/build/inline-folder.ts';
import { hashOf, type Manifest, readManifest, writeManifest } from '../../src/record/manifest.ts';
import { parseOptions, type SnippetsOptions } from '../../src/settings/options.ts';
import { resolveSettings } from '../../src/settings/settings.ts';
import { createFolder, type Folder } from '../support/folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({});
});
beforeEach(() => {
  service.put(1, '<b>one</b>');
  service.put(2, 'two');
});
afterAll(() => service.close());

const embed = (id: number) => `<snippet-embed id="${id}"></snippet-embed>`;

async function folderWith(files: Record<string, string | Buffer>): Promise<Folder> {
  const folder = await createFolder(files);
  onTestFinished(() => folder.remove());
  return folder;
}

const recordOf = ({ directory }: Folder) => join(directory, '.cache/astro-snippets/manifest.public.json');

/** Inlines into the folder `public`, and returns what is said. */
async function inline(folder: Folder, options: SnippetsOptions = {}): Promise<string[]> {
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  const parsed = parseOptions({ ca: service.certificateAuthority, ...options });
  const to = join(folder.directory, 'public');
  const settings = resolveSettings(parsed, service.environment);
  await inlineFolder({
    from: to,
    to,
    manifest: recordOf(folder),
    settings,
    logger: { info: log, warn: log },
  });
  return lines;
}

async function readRecord(folder: Folder): Promise<Manifest> {
  const { manifest } = await readManifest(recordOf(folder));
  expect(manifest).toBeDefined();
  return manifest as Manifest;
}

test('a command of `refresh --after` that has failed is still pending after the next run', async () => {
  const folder = await folderWith({ 'public/a.html': embed(1) });
  await inline(folder);
  await writeManifest(recordOf(folder), { ...(await readRecord(folder)), pending: [] });
  await inline(folder);
  expect((await readRecord(folder)).pending).toEqual([]);
});

test('a kept page is composed again only if its snippets or the rules for HTML have changed', async () => {
  const folder = await folderWith({ 'public/a.html': `<p>${embed(1)}</p>` });
  await inline(folder);
  // A page that nothing would compose, to see whether it is left alone.
  const page = '<p><b>eno</b></p>';
  const record = await readRecord(folder);
  const files = record.files.map((file) => ({ ...file, hash: hashOf(page) }));
  await folder.write({ 'public/a.html': page });
  await writeManifest(recordOf(folder), { ...record, files });
  await inline(folder);
  expect(await folder.read('public/a.html')).toBe(page);
  await inline(folder, { strict: true });
  expect(await folder.read('public/a.html')).toBe('<p><b>one</b></p>');
});
