import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { inlineFolder } from '../../src/build/inline-folder.ts';
import { hashOf, type Manifest, readManifest, writeManifest } from '../../src/record/manifest.ts';
import { parseOptions, type SnippetsOptions } from '../../src/settings/options.ts';
import { resolveSettings } from '../../src/settings/settings.ts';
import { createFolder, type Folder } from '../support/folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** How many files a run replaces before it ends, as one that is killed does. */
const killed = vi.hoisted(() => ({ after: Infinity }));

vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs')>();
  const renameSync: typeof fs.renameSync = (from, to) => {
    if (String(from).endsWith('.inline.tmp') && killed.after-- <= 0) throw new Error('killed');
    fs.renameSync(from, to);
  };
  return { ...fs, renameSync };
});

let service: TestService;

beforeAll(async () => {
  service = await startTestService({});
});
beforeEach(() => {
  killed.after = Infinity;
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
  const logger = { info: log, warn: log };
  const environment = { mode: 'production' };
  await inlineFolder({
    cwd: folder.directory,
    from: to,
    to,
    manifest: recordOf(folder),
    settings,
    environment,
    logger,
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

test('a kept page follows a function that sanitizes, and one that is no longer there', async () => {
  const folder = await folderWith({ 'public/a.html': `<p>${embed(1)}</p>` });
  await inline(folder, { sanitize: () => 'sanitized' });
  expect(await folder.read('public/a.html')).toBe('<p>sanitized</p>');
  await inline(folder);
  expect(await folder.read('public/a.html')).toBe('<p><b>one</b></p>');
});

describe('a file that a generator writes while snippets are fetched is left alone, and named:', () => {
  const pages = { 'public/a.html': `<p>${embed(1)}</p>`, 'public/b.html': embed(2) };

  /** Writes the page `a.html` as soon as `b.html` has been read. */
  async function failsWith(folder: Folder, text: string) {
    const file = join(folder.directory, 'public/a.html');
    const params = ({ page }: { page: string }) => {
      if (page === '/b/') writeFileSync(file, text);
      return {};
    };
    const before = await folder.files('public');
    await expect(inline(folder, { params })).rejects.toThrow(
      'a.html was changed while snippets were fetched. Nothing was written.',
    );
    expect(await folder.files('public')).toEqual({ ...before, 'a.html': text });
  }

  test('one with embeds', async () => {
    await failsWith(await folderWith(pages), `<h1>${embed(1)}</h1>`);
  });

  test.each([
    ['is to be updated', '<b>new</b>'],
    ['shows what the service publishes', '<b>one</b>'],
  ])('one of an earlier run that %s', async (_what, content) => {
    const folder = await folderWith(pages);
    await inline(folder);
    await folder.write({ 'public/b.html': embed(2) });
    service.put(1, content);
    await failsWith(folder, `<h1>${embed(1)}</h1>`);
  });
});

describe('after a run that was killed while it wrote, the next one', () => {
  const names = ['a.html', 'b.html', 'c.html'];
  const pageOf = (name: string, content: string) => `<p>${name} ${content}</p>`;

  /** Pages of an earlier run and a new one, each with a compressed copy. */
  async function inlinedFolder(): Promise<Folder> {
    const folder = await folderWith({});
    for (const name of ['a.html', 'b.html']) await writePage(folder, name);
    await inline(folder);
    await writePage(folder, 'c.html');
    return folder;
  }

  async function writePage(folder: Folder, name: string) {
    const page = pageOf(name, embed(1));
    await folder.write({ [`public/${name}`]: page, [`public/${name}.gz`]: gzipSync(page) });
  }

  async function kill(folder: Folder, after: number, options?: SnippetsOptions) {
    killed.after = after;
    await expect(inline(folder, options)).rejects.toThrow('killed');
    killed.after = Infinity;
  }

  async function expectPages(folder: Folder, content: string) {
    for (const name of names) {
      const page = pageOf(name, content);
      expect(await folder.read(`public/${name}`)).toBe(page);
      expect(gunzipSync(readFileSync(join(folder.directory, `public/${name}.gz`))).toString()).toBe(page);
    }
    const { files, kinds, renewing, snippets } = await readRecord(folder);
    expect(files).toEqual(names.map((name) => expect.objectContaining({ name })));
    for (const { name, hash, next } of files) {
      expect(hash).toBe(hashOf(pageOf(name, content)));
      expect(next).toBeUndefined();
    }
    for (const kind of kinds) expect(kind.content).toBe(snippets[kind.snippet]?.content?.hash);
    expect(renewing ?? []).toEqual([]);
    expect(existsSync(`${recordOf(folder)}.unfinished`)).toBe(false);
  }

  // Three pages and their compressed copies.
  const moments = [0, 1, 2, 3, 4, 5];

  test.each(moments)('completes all files: killed after %i of 6', async (after) => {
    const folder = await inlinedFolder();
    service.put(1, '<i>new</i>');
    await kill(folder, after);
    await inline(folder);
    await expectPages(folder, '<i>new</i>');
  });

  test.each(moments)(
    'takes all files back if the content is the old one again: killed after %i of 6',
    async (after) => {
      const folder = await inlinedFolder();
      service.put(1, '<i>new</i>');
      await kill(folder, after);
      service.put(1, '<b>one</b>');
      await inline(folder);
      await expectPages(folder, '<b>one</b>');
    },
  );

  test.each(moments)('applies its own rules to all files: killed after %i of 6', async (after) => {
    service.put(1, '<b>one</b><script>go()</script>');
    for (const scripts of ['strip', 'allow'] as const) {
      const folder = await inlinedFolder();
      await kill(folder, after, { scripts: 'strip' });
      await inline(folder, { scripts });
      await expectPages(folder, scripts === 'strip' ? '<b>one</b>' : '<b>one</b><script>go()</script>');
    }
  });

  test('can be killed, too', async () => {
    const folder = await inlinedFolder();
    service.put(1, '<i>new</i>');
    await kill(folder, 4);
    service.put(1, '<i>newer</i>');
    await kill(folder, 3);
    await inline(folder);
    await expectPages(folder, '<i>newer</i>');
  });
});

test('a compressed file beside a page of an earlier run that holds something else is an error', async () => {
  const folder = await folderWith({ 'public/a.html': embed(1) });
  await inline(folder);
  await folder.write({ 'public/a.html.gz': gzipSync('something else') });
  await expect(inline(folder)).rejects.toThrow('a.html.gz does not decompress to the file beside it.');
});

describe('a file of an earlier run that is no longer in the record is a warning with its name:', () => {
  const names = async (folder: Folder) => (await readRecord(folder)).files.map(({ name }) => name);
  const changed =
    'Changed since the last run, without embeds now, and no longer in the record: a.html. If a step after inline did this, such as a minifier, snippets stay there as they were: let the generator write the files again, and run inline after that step.';

  async function inlined(): Promise<Folder> {
    const folder = await folderWith({
      'public/a.html': `<p>\n${embed(1)}\n</p>`,
      'public/b.html': embed(2),
      'public/plain.html': '<p>plain</p>',
    });
    await inline(folder);
    return folder;
  }

  test('one that a minifier has changed', async () => {
    const folder = await inlined();
    await folder.write({ 'public/a.html': '<p><b>one</b></p>', 'public/plain.html': 'plain' });
    expect(await inline(folder)).toContain(changed);
    expect(await names(folder)).toEqual(['b.html']);
    expect((await inline(folder)).join()).not.toContain('Changed since');
  });

  test('one that a minifier has changed, where no snippets are left', async () => {
    const folder = await inlined();
    await folder.write({ 'public/a.html': '<p><b>one</b></p>', 'public/b.html': embed(2) });
    await inline(folder, { exclude: 'b.html' });
    expect(await inline(folder, { exclude: 'b.html' })).toEqual([]);
    const other = await inlined();
    await other.write({ 'public/a.html': '<p><b>one</b></p>' });
    expect(await inline(other, { exclude: 'b.html' })).toEqual([changed, excluded]);
  });

  const excluded =
    'Excluded now, and no longer in the record: b.html. Snippets of the last run stay there as they were.';

  test('one that is excluded now', async () => {
    const folder = await inlined();
    expect(await inline(folder, { exclude: 'b.html' })).toContain(excluded);
    expect(await names(folder)).toEqual(['a.html']);
    expect(await folder.read('public/b.html')).toBe('two');
  });

  test('one that a minifier has changed and that is excluded now', async () => {
    const folder = await inlined();
    await folder.write({ 'public/a.html': '<p><b>one</b></p>' });
    expect(await inline(folder, { exclude: 'a.html' })).toContain(changed);
  });

  test('but one that shows its embeds as examples now is none', async () => {
    const folder = await inlined();
    await folder.write({ 'public/a.html': `<p>${embed(1)}</p>` });
    expect(await inline(folder, { exclude: 'a.html' })).toEqual(['1 file is as an earlier run left it.']);
  });

  test('nor is one that the generator has written again with embeds, or that is gone', async () => {
    const folder = await inlined();
    await folder.write({ 'public/a.html': `<i>${embed(1)}</i>` });
    rmSync(join(folder.directory, 'public/b.html'));
    expect((await inline(folder)).join()).not.toContain('no longer in the record');
  });
});
