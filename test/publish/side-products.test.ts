import { exec } from 'node:child_process';
import { createHash } from 'node:crypto';
import { watch } from 'node:fs';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync, gzipSync, zstdDecompressSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { startCommand } from '../support/command.ts';
import { type FolderServer, serveFolder } from '../support/folder-server.ts';
import { holderElsewhere } from '../support/output-lock.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { sideProductIntegrations } from '../support/side-products.ts';
import { createSite, type Site } from '../support/site.ts';

let service: TestService;
const sites: Site[] = [];

beforeAll(async () => {
  service = await startTestService({ 1: 'the heffalump', 2: 'about us', 3: '<b>a</b> & b' });
});
beforeEach(() => publishAll());
afterAll(async () => {
  for (const site of sites) await site.remove();
  await service.close();
});

function publishAll(): void {
  service.put(1, 'the heffalump');
  service.put(2, 'about us');
  service.put(3, '<b>a</b> & b');
}

const pages = {
  'src/pages/index.html':
    '<html lang="en"><head><title>home</title></head><body><p><snippet-embed id="1"></snippet-embed></p></body></html>',
  'src/pages/about.html':
    '<html lang="en"><head><title>about</title></head><body><p><snippet-embed id="2"></snippet-embed></p></body></html>',
};

const config = (integrations: string) => `
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
import { compress, copy, precache } from './side-products.mjs';
export default defineConfig({ integrations: [snippets(), ${integrations}] });`;

async function createBuilt(integrations: string, files: Record<string, string> = pages): Promise<Site> {
  const site = await createSite({
    'astro.config.mjs': config(integrations),
    'side-products.mjs': sideProductIntegrations,
    ...files,
  });
  sites.push(site);
  // What an earlier test has published is there still.
  publishAll();
  await build(site);
  return site;
}

async function build(site: Site): Promise<void> {
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode, output).toBe(0);
}

// As \`npm run\` and \`npx\` do.
const bin = join(import.meta.dirname, '../../node_modules/.bin');

function run(site: Site, ...arguments_: string[]) {
  const PATH = `${bin}${delimiter}${process.env['PATH']}`;
  return startCommand(site.directory, arguments_, { ...service.environment, PATH }).ended;
}

/** All files of a folder, by name. */
async function contents(site: Site, folder: string): Promise<Map<string, Buffer>> {
  const names = await site.list(folder);
  const files = names.map(
    async (name) => [name, await readFile(join(site.directory, folder, name))] as const,
  );
  return new Map(await Promise.all(files));
}

const decoders = { '.gz': gunzipSync, '.br': brotliDecompressSync, '.zst': zstdDecompressSync };

/** The files of a folder as a browser gets them: compressed ones decompressed. */
async function published(site: Site, folder = 'dist'): Promise<Map<string, string>> {
  const files = [...(await contents(site, folder))].map(([name, bytes]) => {
    const decode = decoders[extname(name) as keyof typeof decoders];
    return [name, (decode === undefined ? bytes : decode(bytes)).toString()] as const;
  });
  return new Map(files);
}

const built = ['dist', '.vercel', 'node_modules/.astro'];

/** Keeps what a build has left, to give it back: a build takes seconds. */
async function keep(site: Site): Promise<() => Promise<void>> {
  const kept = join(site.directory, 'kept');
  const copy = (from: string, to: string) =>
    cp(from, to, { recursive: true, preserveTimestamps: true }).catch(() => {});
  for (const folder of built) await copy(join(site.directory, folder), join(kept, folder));
  return async () => {
    for (const folder of built) {
      await rm(join(site.directory, folder), { recursive: true, force: true });
      await copy(join(kept, folder), join(site.directory, folder));
    }
  };
}

/** Expects folders to hold what a full build gives, but for a search index, which no build of these sites makes. */
async function expectFresh(site: Site, ...folders: string[]): Promise<void> {
  const all = async () => {
    const files = await Promise.all(folders.map((folder) => published(site, folder)));
    return files.map((one) => new Map([...one].filter(([name]) => !name.startsWith('pagefind/'))));
  };
  const now = await all();
  await build(site);
  expect(now).toEqual(await all());
}

describe('files that hold a page and nothing else', () => {
  let site: Site;
  let restore: () => Promise<void>;
  beforeAll(async () => {
    site = await createBuilt('compress(), copy()');
    restore = await keep(site);
  });
  beforeEach(() => restore());

  test('are renewed with it in the output and in a copy of it, as a full build would', async () => {
    service.put(1, 'the woozle &amp; a longer text');
    expect(await run(site, 'refresh')).toEqual({ exitCode: 0, output: 'index.html is up to date\n' });
    const now = await published(site);
    for (const suffix of ['', '.gz', '.br', '.zst'])
      expect(now.get(`index.html${suffix}`)).toContain('woozle');
    expect((await site.list('.vercel')).filter((name) => name.includes('.tmp'))).toEqual([]);
    expect(await run(site, 'check')).toMatchObject({ exitCode: 0 });
    expect(await run(site, 'refresh')).toEqual({ exitCode: 0, output: 'Nothing has changed.\n' });
    await expectFresh(site, 'dist', '.vercel/output/static');
  });

  test.for([
    [
      'a compressed file of another page',
      'dist/index.html.gz',
      gzipSync('another'),
      'does not decompress to index.html',
      'index.html.gz',
    ],
    [
      'a compressed file that is none',
      'dist/index.html.zst',
      Buffer.from('none'),
      'does not decompress to index.html',
      'index.html.zst',
    ],
    [
      'a copy that was changed',
      '.vercel/output/static/index.html',
      Buffer.from('minified'),
      'is not a copy of index.html',
      '.vercel/output/static/index.html',
    ],
    [
      'a copy that lacks the page',
      '.vercel/output/static/index.html',
      undefined,
      'is not a copy of index.html',
      '.vercel/output/static/index.html',
    ],
  ] as const)(
    'keep a refresh from writing anything, with status 3: %s',
    async ([, file, bytes, reason, name]) => {
      service.put(1, 'the woozle');
      service.put(2, 'about them');
      if (bytes === undefined) await rm(join(site.directory, file));
      else await writeFile(join(site.directory, file), bytes);
      const before = await contents(site, 'dist');
      const { exitCode, output } = await run(site, 'refresh');
      expect(output).toBe(
        `${name} ${reason}\nNothing was written. Build the site, or update the other pages with --skip-modified.\n`,
      );
      expect(exitCode).toBe(3);
      expect(await contents(site, 'dist')).toEqual(before);
      // The page stays with what was made from it; the others are written.
      expect(await run(site, 'refresh', '--skip-modified')).toMatchObject({ exitCode: 3 });
      expect(await site.read('index.html')).toContain('heffalump');
      expect(await site.read('about/index.html')).toContain('them');
    },
  );

  test('are not looked for once the copy is gone, as on a machine that only has the output', async () => {
    await rm(join(site.directory, '.vercel'), { recursive: true });
    service.put(1, 'the woozle');
    expect(await run(site, 'refresh')).toMatchObject({ exitCode: 0 });
    expect(await site.list('.vercel')).toEqual([]);
  });

  test('are complete after a refresh that was killed at any moment, or the next one completes them', async () => {
    const texts = ['the heffalump', `the woozle ${'and another '.repeat(20)}`] as const;
    const folders = ['dist', '.vercel/output/static'];
    const kills = new Map<string | undefined, number>();
    for (let turn = 0; turn < 16; turn++) {
      // What the page does not show, whatever the last turn has left: each refresh has something to write.
      const page = await site.read('index.html');
      const text = texts.find((one) => !page.includes(one)) ?? '';
      service.put(1, text);
      const { process: child, ended } = startCommand(site.directory, ['refresh'], service.environment);
      const kill = () => child.kill('SIGKILL');
      // When something is written to the output or to its copy, or at any moment.
      const folder = [...folders, undefined][turn % 3];
      const watcher = folder === undefined ? undefined : watch(join(site.directory, folder), kill);
      if (folder === undefined) setTimeout(kill, 150 + Math.floor(Math.random() * 400));
      const { exitCode, output } = await ended;
      watcher?.close();
      expect([null, 0], output).toContain(exitCode);
      if (exitCode === null) kills.set(folder, (kills.get(folder) ?? 0) + 1);
      // Whatever was written: 0 says that all files of the page are those of the service.
      const checked = await run(site, 'check');
      expect([0, 10], checked.output).toContain(checked.exitCode);
      const shown = [...(await published(site)), ...(await published(site, '.vercel/output/static'))];
      const pages = shown.filter(([name]) => /^index\.html(\.(gz|br|zst))?$/.test(name));
      expect(pages).toHaveLength(8);
      if (checked.exitCode === 0) for (const [name, page] of pages) expect(page, name).toContain(text);
    }
    for (const folder of folders) expect(kills.get(folder), folder).toBeGreaterThan(0);
    expect(await run(site, 'refresh')).toMatchObject({ exitCode: 0 });
    await expectFresh(site, 'dist', '.vercel/output/static');
  });

  test('that a killed refresh has left behind are renewed, even if the service shows the old content again', async () => {
    const manifest = join(site.directory, 'node_modules/.astro/astro-snippets/manifest.json');
    const page = await site.read('index.html');
    const [old, other] = [Buffer.from(page), Buffer.from(page.replace('heffalump', 'woozle'))];
    const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
    // As a process leaves it that was killed between two files of a page.
    const renewing = [{ page: 'index.html', hashes: [hashOf(old), hashOf(other)], maxLength: old.length }];
    await writeFile(manifest, JSON.stringify({ ...JSON.parse(await readFile(manifest, 'utf8')), renewing }));
    await writeFile(join(site.directory, 'dist/index.html.gz'), gzipSync(other));
    await writeFile(join(site.directory, 'dist/index.html.br.refresh.tmp'), 'cut');
    const checked = await run(site, 'check');
    expect(checked).toEqual({ exitCode: 10, output: 'index.html was not written to all its copies\n' });
    expect(await run(site, 'refresh')).toEqual({ exitCode: 0, output: 'index.html is up to date\n' });
    expect((await published(site)).get('index.html.gz')).toBe(page);
    expect(await site.list()).not.toContain('index.html.br.refresh.tmp');
    expect(await run(site, 'check')).toMatchObject({ exitCode: 0 });
  });
});

test('a build fails if compressed files were made before snippets were inlined, and leaves no record', async () => {
  const site = await createSite({
    'astro.config.mjs': config('').replace('snippets(), ', `compress('astro:build:generated'), snippets()`),
    'side-products.mjs': sideProductIntegrations,
    ...pages,
    'src/pages/plain.html': '<p>plain</p>',
  });
  sites.push(site);
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(1);
  expect(output).toMatch(
    /\[astro-snippets\/stale-compressed-file\] about\/index\.html\.br, about\/index\.html\.gz, about\/index\.html\.zst, index\.html\.br/,
  );
  expect(output).toContain('do not decompress to the file beside it.');
  expect(output).not.toContain('plain/index.html.');
  expect(output).toContain('astro:build:done');
  expect(await run(site, 'check')).toMatchObject({ exitCode: 3 });
});

describe('refresh --after', () => {
  let site: Site;
  let restore: () => Promise<void>;
  const renew = `node -e "import('./side-products.mjs').then((made) => made.writePrecache('dist'))"`;
  const count = `node -e "fs.appendFileSync('runs', 'x')"`;
  const runs = async () => (await readFile(join(site.directory, 'runs'), 'utf8').catch(() => '')).length;
  beforeAll(async () => {
    site = await createBuilt('precache()');
    restore = await keep(site);
  });
  beforeEach(async () => {
    await restore();
    await rm(join(site.directory, 'runs'), { force: true });
  });

  test('is asked for, with status 3, when a service worker lists the revision of a page', async () => {
    service.put(1, 'the woozle');
    const before = await contents(site, 'dist');
    const refused = {
      exitCode: 3,
      output: `sw.js contains the revision of index.html, which changes
Nothing was written. Build the site, or refresh with a command that renews what was made from its pages: --after '<the command that writes sw.js>'
`,
    };
    expect(await run(site, 'refresh')).toEqual(refused);
    expect(await run(site, 'refresh', '--skip-modified')).toEqual(refused);
    expect(await contents(site, 'dist')).toEqual(before);
  });

  test('is not asked for when a file with the digest of another page would stay as it is', async () => {
    await writeFile(join(site.directory, 'dist/sw.js'), '');
    const digest = createHash('sha256')
      .update(await site.read('about/index.html'))
      .digest('base64');
    await writeFile(
      join(site.directory, 'dist/integrity.json'),
      JSON.stringify({ about: `sha256-${digest}` }),
    );
    service.put(1, 'the woozle');
    expect(await run(site, 'refresh')).toMatchObject({ exitCode: 0 });
    service.put(2, 'about them');
    const { exitCode, output } = await run(site, 'refresh');
    expect(output).toContain('integrity.json contains the revision of about/index.html, which changes\n');
    expect(exitCode).toBe(3);
  });

  test('runs its command once after pages were written, and never without', async () => {
    service.put(1, 'the woozle');
    const { exitCode, output } = await run(site, 'refresh', '--after', `${count} && ${renew}`);
    expect(output).toBe('index.html is up to date\n');
    expect(exitCode).toBe(0);
    expect(await runs()).toBe(1);
    expect(await run(site, 'check')).toMatchObject({ exitCode: 0 });
    const again = await run(site, 'refresh', '--after', count);
    expect(again).toEqual({ exitCode: 0, output: 'Nothing has changed.\n' });
    expect(await runs()).toBe(1);
    await expectFresh(site, 'dist');
  });

  test('exits with 3 when the command has not renewed a file, until it has', async () => {
    service.put(1, 'the woozle');
    const lazy = `${count} && node -e "fs.utimesSync('dist/sw.js', 1, 1)"`;
    const { exitCode, output } = await run(site, 'refresh', '--after', lazy);
    expect(output).toBe(`index.html is up to date
sw.js was not renewed by the command
The pages are written. Build the site, or refresh again with a command that renews the rest: --after '<the command that writes sw.js>'
`);
    expect(exitCode).toBe(3);
    expect(await site.read('index.html')).toContain('woozle');
    expect(await run(site, 'check')).toEqual({
      exitCode: 10,
      output: 'sw.js was not renewed after the last refresh\n',
    });
    const json = await run(site, 'check', '--json');
    expect(JSON.parse(json.output)).toMatchObject({
      changed: [],
      unfinished: [{ name: 'sw.js', reason: 'was not renewed after the last refresh' }],
    });
    expect(await run(site, 'refresh')).toMatchObject({ exitCode: 3 });
    expect(await run(site, 'refresh', '--after', lazy)).toMatchObject({ exitCode: 3 });
    expect(await runs()).toBe(2);
    expect(await run(site, 'refresh', '--after', renew)).toMatchObject({ exitCode: 0 });
    expect(await run(site, 'check')).toMatchObject({ exitCode: 0 });
  });

  test('takes a compressed file for out of date when the file beside it was renewed without it', async () => {
    await writeFile(join(site.directory, 'dist/sw.js.gz'), gzipSync(await site.read('sw.js')));
    service.put(1, 'the woozle');
    expect(await run(site, 'refresh', '--after', renew)).toMatchObject({
      exitCode: 3,
      output: expect.stringContaining('sw.js was not renewed by the command'),
    });
    expect(await run(site, 'refresh', '--after', `${renew} && gzip -kf dist/sw.js`)).toMatchObject({
      exitCode: 0,
    });
    expect(await run(site, 'check')).toMatchObject({ exitCode: 0 });
  });

  test('exits with 1 when the command fails, and runs it again next time though no page changes', async () => {
    service.put(1, 'the woozle');
    const { exitCode, output } = await run(
      site,
      'refresh',
      '--after',
      'echo FAILS-WITH-$((3 + 4)) && exit 7',
    );
    expect(exitCode).toBe(1);
    expect(output).toContain('index.html is up to date\n');
    expect(output).toContain('FAILS-WITH-7');
    expect(output).toContain(
      'The pages are written, but the command of --after exited with status 7, so what was made from them may be out of date.\nFix the command and refresh with --after again: it is run even if nothing else has changed.\n',
    );
    expect(await run(site, 'check')).toMatchObject({ exitCode: 10 });
    expect(await run(site, 'refresh')).toMatchObject({
      exitCode: 3,
      output: expect.stringContaining('sw.js contains'),
    });
    expect(await run(site, 'refresh', '--dry-run', '--after', count)).toMatchObject({ exitCode: 0 });
    expect(await runs()).toBe(0);
    expect(await run(site, 'refresh', '--after', `${count} && ${renew}`)).toMatchObject({ exitCode: 0 });
    expect(await runs()).toBe(1);
    expect(await run(site, 'check')).toMatchObject({ exitCode: 0 });
  });

  test('remembers a failed command even if no file is known to need it', async () => {
    await rm(join(site.directory, 'dist/sw.js'));
    service.put(1, 'the woozle');
    expect(await run(site, 'refresh', '--after', 'exit 1')).toMatchObject({ exitCode: 1 });
    const line = 'The command of the last refresh --after has not succeeded yet\n';
    expect(await run(site, 'check')).toEqual({ exitCode: 10, output: line });
    const refused = await run(site, 'refresh');
    expect(refused.exitCode).toBe(3);
    expect(refused.output).toBe(
      `${line}Nothing was written. Build the site, or refresh with the same --after again.\n`,
    );
    expect(await run(site, 'refresh', '--after', count)).toMatchObject({ exitCode: 0 });
    expect(await runs()).toBe(1);
    expect(await run(site, 'check')).toMatchObject({ exitCode: 0 });
  });

  test('accepts a file that was renewed by hand after the command had failed, once a command succeeds', async () => {
    service.put(1, 'the woozle');
    expect(await run(site, 'refresh', '--after', `${renew} && exit 1`)).toMatchObject({ exitCode: 1 });
    expect(await run(site, 'check')).toMatchObject({ exitCode: 10 });
    expect(await run(site, 'refresh')).toMatchObject({ exitCode: 3 });
    expect(await run(site, 'refresh', '--after', count)).toMatchObject({ exitCode: 0 });
    expect(await run(site, 'check')).toMatchObject({ exitCode: 0 });
  });

  test('with --dry-run shows what would be written, and runs nothing', async () => {
    service.put(1, 'the woozle');
    const dry = await run(site, 'refresh', '--dry-run', '--after', count);
    expect(dry.exitCode).toBe(0);
    expect(dry.output).toContain('index.html would be written\n');
    const without = await run(site, 'refresh', '--dry-run');
    expect(without.exitCode).toBe(3);
    expect(without.output).toContain(
      'sw.js contains the revision of index.html, which changes\nNothing would be written.',
    );
    expect(await runs()).toBe(0);
    expect(await site.read('index.html')).toContain('heffalump');
  });

  test('with a command that builds the site leaves the record of that build', async () => {
    service.put(1, 'the woozle');
    const astro = `node "${join(import.meta.dirname, '../../node_modules/astro/bin/astro.mjs')}" build`;
    expect(await run(site, 'refresh', '--after', astro)).toMatchObject({ exitCode: 0 });
    expect(await run(site, 'check')).toMatchObject({ exitCode: 0 });
  });

  test('leaves the record alone that another process has written since its command ran', async () => {
    service.put(1, 'the woozle');
    const folder = 'node_modules/.astro/astro-snippets';
    const record = join(site.directory, folder, 'manifest.json');
    const lock = `${folder}/manifest.lock`;
    await writeFile(join(site.directory, 'holder.json'), JSON.stringify(holderElsewhere()));
    const command = `${renew} && node -e "fs.copyFileSync('holder.json', '${lock}')"`;
    const refreshing = startCommand(site.directory, ['refresh', '--after', command], service.environment);
    await expect
      .poll(refreshing.output, { timeout: 60_000 })
      .toContain('Waiting for the build of process 1 on build-2');
    const changed = { ...JSON.parse(await readFile(record, 'utf8')), builtAt: '2026-01-01T00:00:00Z' };
    expect(changed).toHaveProperty('pending');
    await writeFile(record, JSON.stringify(changed));
    await rm(join(site.directory, lock));
    expect(await refreshing.ended).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(await readFile(record, 'utf8'))).toEqual(changed);
    expect(await site.list(folder)).not.toContain('manifest.lock');
  });

  test('in a watch runs its command before the deploy command, and again until it succeeds', async () => {
    await writeFile(join(site.directory, 'fails'), '');
    const after = `${renew} && node -e "fs.appendFileSync('log', 'after '); if (fs.existsSync('fails')) { fs.rmSync('fails'); process.exit(1); }"`;
    const deploy = `node -e "fs.appendFileSync('log', 'deploy ')"`;
    const log = async () => readFile(join(site.directory, 'log'), 'utf8').catch(() => '');
    const watching = startCommand(
      site.directory,
      ['watch', '--every', '1s', '--after', after, '--exec', deploy],
      service.environment,
    );
    try {
      await expect.poll(watching.output, { timeout: 60_000 }).toContain('Checking every');
      service.put(1, 'the woozle');
      await expect.poll(log, { timeout: 60_000 }).toBe('after after deploy ');
      await expect.poll(watching.output).toContain('It is run again with the next check.');
    } finally {
      watching.process.kill('SIGTERM');
      await watching.ended;
    }
    expect(await log()).toBe('after after deploy ');
    expect(await run(site, 'check')).toMatchObject({ exitCode: 0 });
  });
});

describe('a Pagefind index', () => {
  let site: Site;
  let server: FolderServer;
  let browser: Browser;
  const remake = 'rm -rf dist/pagefind && pagefind --site dist';

  beforeAll(async () => {
    browser = await startBrowser();
    site = await createBuilt('compress(), copy()', {
      'src/pages/about.html': pages['src/pages/about.html'],
      'src/pages/index.astro': `---
import { Snippet } from 'astro-snippets/components';
import { getCollection } from 'astro:content';
const [legal] = await getCollection('legal');
const data = { '@context': 'https://schema.org', '@type': 'Organization', name: '<snippet-embed id="3"></snippet-embed>' };
---
<html lang="en"><head><title>home</title><script type="application/ld+json" set:html={JSON.stringify(data)} /></head>
<body><h1>home</h1><p><Snippet id={1} /></p><footer set:html={legal.data.content} /></body></html>`,
      'src/pages/rss.xml.js': `export const GET = () => new Response('<rss version="2.0"><channel><title>x</title><item><description>&lt;snippet-embed id="1">&lt;/snippet-embed></description></item></channel></rss>');`,
      'src/pages/data.json.js': `export const GET = () => Response.json({ html: '<snippet-embed id="1"></snippet-embed>' });`,
      'src/content.config.ts': `
import { defineCollection } from 'astro:content';
import { snippetLoader } from 'astro-snippets/loader';
export const collections = { legal: defineCollection({ loader: snippetLoader({ imprint: { id: 2 } }) }) };`,
    });
    server = await serveFolder(site.directory);
  });
  afterAll(async () => {
    await server.close();
    await browser.close();
  });

  /** The URLs that a visitor of the site finds. */
  async function search(folder: string, word: string): Promise<string[]> {
    const page = await browser.newPage();
    try {
      await page.goto(`${server.url}/${folder}/index.html`);
      // As text: the test runner would rewrite the import of a function.
      return await page.evaluate(`import('/${folder}/pagefind/pagefind.js')
        .then((pagefind) => pagefind.search('${word}'))
        .then(({ results }) => Promise.all(results.map(async (result) => (await result.data()).url)))`);
    } finally {
      await page.close();
    }
  }

  test('is a reason for status 3 until --after rebuilds it, and a search finds the new word, not the old', async () => {
    await promisify(exec)(
      `"${join(bin, 'pagefind')}" --site dist && cp -R dist/pagefind .vercel/output/static/pagefind`,
      { cwd: site.directory },
    );
    expect(await search('dist', 'heffalump')).toHaveLength(1);

    service.put(1, 'the woozle');
    const before = await contents(site, 'dist');
    const command =
      'rm -rf dist/pagefind .vercel/output/static/pagefind && pagefind --site dist && cp -R dist/pagefind .vercel/output/static/pagefind';
    expect(await run(site, 'refresh')).toEqual({
      exitCode: 3,
      output: `pagefind/pagefind-entry.json is a search index of pages that change, such as index.html
.vercel/output/static/pagefind/pagefind-entry.json is a search index of pages that change, such as index.html
Nothing was written. Build the site, or refresh with a command that renews what was made from its pages: --after '${command}'
`,
    });
    expect(await contents(site, 'dist')).toEqual(before);

    // The command that the message names.
    const { exitCode, output } = await run(site, 'refresh', '--after', command);
    expect(exitCode, output).toBe(0);
    expect(output).toContain('data.json is up to date\nindex.html is up to date\nrss.xml is up to date\n');
    for (const folder of ['dist', '.vercel/output/static']) {
      expect(await search(folder, 'woozle')).toHaveLength(1);
      expect(await search(folder, 'heffalump')).toEqual([]);
    }
    expect(await run(site, 'check')).toMatchObject({ exitCode: 0 });
  });

  test('of which one copy was left alone is named', async () => {
    service.put(1, 'the backson');
    const { exitCode, output } = await run(site, 'refresh', '--after', remake);
    expect(exitCode).toBe(3);
    expect(output).toContain(
      '.vercel/output/static/pagefind/pagefind-entry.json was not renewed by the command\n',
    );
    expect(output).not.toMatch(/^pagefind\/pagefind-entry.json was not/m);
    await expectFresh(site, 'dist', '.vercel/output/static');
  });
});

test('a page that a minifier changed after snippets were inlined is named with status 3, and so is the step that helps', async () => {
  const site = await createBuilt(
    `{ name: 'minifier', hooks: { 'astro:build:done': async ({ dir }) => {
      const { readFile, writeFile } = await import('node:fs/promises');
      const file = new URL('index.html', dir);
      await writeFile(file, (await readFile(file, 'utf8')).replace('<html lang="en">', '<html lang=en>'));
    } } }`,
  );
  service.put(1, 'the woozle');
  expect(await run(site, 'refresh')).toEqual({
    exitCode: 3,
    output:
      'index.html was changed after the build\nNothing was written. Build the site, or update the other pages with --skip-modified.\n',
  });
});
