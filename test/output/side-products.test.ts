import { hash } from 'node:crypto';
import { copyFile, cp, link, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, gunzipSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import { type TestService, temporaryService } from '../support/service/service.ts';
import { copyOfEverything, type Everything, renewPrecache } from '../support/site/everything.ts';
import { type Folder, folderWith } from '../support/site/folder.ts';
import { changeRecord, readRecord } from '../support/site/records.ts';
import { sideProductIntegrations } from '../support/site/side-products.ts';
import { configWith, temporarySite } from '../support/site/site.ts';
import { cli } from '../support/tools/cli.ts';
import { exits } from '../support/tools/exits.ts';

let site: Everything;

const fileOf = (name: string) => join(site.directory, name);
const output = () => site.contents('dist', '.vercel');
const refresh = (...flags: string[]) => site.run('refresh', ...flags);
const about = 'Updated about.html\n';

describe('copies and compressed files of a page', () => {
  beforeEach(async () => {
    site = await copyOfEverything();
  });

  test.for([
    ['a compressed file of another page', 'about.html.gz', gzipSync('another')],
    ['a compressed file that is not one', 'about.html.zst', Buffer.from('none')],
    ['a compressed file that is cut off', 'about.html.br', brotliCompressSync('about').subarray(0, -3)],
    ['a compressed file of far more bytes', 'about.html.zst', zstdCompressSync(Buffer.alloc(5 * 2 ** 20))],
    ['a copy that was changed', '.vercel/output/static/about.html', Buffer.from('minified')],
    ['a copy that lacks the page', '.vercel/output/static/about.html', undefined],
  ] as const)('keep a refresh from writing anything, with status 3: %s', async ([, name, bytes]) => {
    site.service.put(1, 'the woozle');
    site.service.put(2, 'about them');
    const isCopy = name.startsWith('.vercel');
    const file = fileOf(isCopy ? name : `dist/${name}`);
    if (bytes === undefined) await rm(file);
    else await writeFile(file, bytes);
    const before = await output();
    const reason = isCopy ? 'is not a copy of about.html' : 'does not decompress to about.html';
    expect(await exits(3, refresh())).toBe(
      `${name} ${reason}\nNothing was written. Build the site, or update the other pages with --skip-modified.\n`,
    );
    expect(await output()).toEqual(before);
    // The page and its side products stay as they are. The other pages are written.
    expect(await refresh('--skip-modified')).toMatchObject({ exitCode: 3 });
    expect(await site.read('about.html')).toContain('about us');
    expect(await site.read('index.html')).toContain('woozle');
  });

  test('are written with the page, also a copy with another name and a hard link', async () => {
    await cp(fileOf('dist/about.html'), fileOf('dist/200.html'));
    await link(fileOf('dist/about.html'), fileOf('dist/us.html'));
    for (const text of ['about them', 'about you']) {
      site.service.put(2, text);
      expect(await refresh()).toMatchObject({ exitCode: 0 });
      const page = await site.read('about.html');
      expect(page).toContain(text);
      expect([await site.read('200.html'), await site.read('us.html')]).toEqual([page, page]);
    }
    await writeFile(fileOf('dist/200.html'), 'something else');
    site.service.put(2, 'about us all');
    expect(await exits(3, refresh())).toContain('200.html is not a copy of about.html\n');
  });

  test('are written with the page, also a compressed copy of a copy, and both in the copy of the output', async () => {
    const folders = ['dist', '.vercel/output/static'];
    const compressed = folders.map((folder) => fileOf(`${folder}/200.html.gz`));
    for (const folder of folders) {
      await cp(fileOf('dist/about.html'), fileOf(`${folder}/200.html`));
      await writeFile(fileOf(`${folder}/200.html.gz`), gzipSync(await readFile(fileOf('dist/about.html'))));
    }
    for (const text of ['about them', 'about you']) {
      site.service.put(2, text);
      await exits(0, refresh());
      for (const file of compressed) {
        expect(gunzipSync(await readFile(file)).toString()).toBe(await site.read('about.html'));
      }
      expect(await readFile(fileOf('.vercel/output/static/200.html'), 'utf8')).toContain(text);
    }
  });

  test('are written with the page, also a compressed copy of a copy that is gone', async () => {
    await writeFile(fileOf('dist/200.html.gz'), gzipSync(await readFile(fileOf('dist/about.html'))));
    for (const text of ['about them', 'about you']) {
      site.service.put(2, text);
      await exits(0, refresh());
      const copy = gunzipSync(await readFile(fileOf('dist/200.html.gz')));
      expect(copy.toString()).toBe(await site.read('about.html'));
      expect(copy.toString()).toContain(text);
    }
  });

  test('keep a refresh from writing if a compressed copy of a copy is that of something else', async () => {
    await cp(fileOf('dist/about.html'), fileOf('dist/200.html'));
    await writeFile(fileOf('dist/200.html.br'), brotliCompressSync('something else'));
    site.service.put(2, 'about them');
    const before = await output();
    expect(await exits(3, refresh())).toContain('200.html.br does not decompress to about.html\n');
    expect(await output()).toEqual(before);
    await exits(3, refresh('--skip-modified'));
    expect(await output()).toEqual(before);
  });

  test('are not expected if the copy is gone, as on a machine that only has the output', async () => {
    await rm(fileOf('.vercel'), { recursive: true });
    site.service.put(2, 'about them');
    expect(await refresh()).toMatchObject({ exitCode: 0 });
    expect(await site.list('.vercel')).toEqual([]);
  });

  test('fail a build if they were made before snippets were inlined, and no record is left', async () => {
    const config = await readFile(fileOf('astro.config.mjs'), 'utf8');
    const early = config
      .replace('compress()', '')
      .replace('[mdx()', "[mdx(), compress('astro:build:generated')");
    await writeFile(fileOf('astro.config.mjs'), early);
    const said = await exits(1, site.build(site.service.environment));
    expect(said).toMatch(
      /\[astro-snippets\/stale-compressed-file\] about\.html\.br, about\.html\.gz, about\.html\.zst, data\.json\.br/,
    );
    expect(said).toContain('do not decompress to the file beside it.');
    expect(said).not.toContain('plain.html.');
    expect(said).toContain('astro:build:done');
    expect(await site.run('check')).toMatchObject({ exitCode: 3 });
  });
});

describe('a file made from pages after the build, with old content', () => {
  beforeEach(async () => {
    site = await copyOfEverything();
  });
  const words = '<section>words with <a href="/prices">prices</a></section>';
  // The script of snippet 5.
  const script = 'document.title = "five"';

  test.for([
    ['the text of a snippet', 'search.json', JSON.stringify([{ text: 'Words words with prices' }]), 9],
    ['its HTML in JSON', 'index.json', JSON.stringify({ html: `<h1>Words</h1>${words}` }), 9],
    ['its HTML, escaped', 'all.xml', words.replaceAll('<', '&lt;').replaceAll('>', '&gt;'), 9],
    ['the hash of its script', '_headers', `script-src 'sha256-${hash('sha256', script, 'base64')}'`, 5],
    ['a short text with its neighbors in the page', 'llms-full.txt', 'home home the heffalump pro', 1],
  ] as const)('keeps a refresh from writing, with status 3: %s', async ([, name, text, id]) => {
    await writeFile(fileOf(`dist/${name}`), text);
    site.service.put(id, '<b>something else, of some length</b>');
    const before = await output();
    expect(await exits(3, refresh())).toContain(`${name} contains what snippet ${id} was, which changes\n`);
    expect(await output()).toEqual(before);
    expect(await refresh('--after', 'echo renewed')).toMatchObject({ exitCode: 0 });
  });

  test('may look old, as a tool has set its time', async () => {
    await writeFile(fileOf('dist/search.json'), JSON.stringify({ text: 'words with prices' }));
    await utimes(fileOf('dist/search.json'), new Date(0), new Date(0));
    site.service.put(9, 'other words');
    expect(await exits(3, refresh())).toContain('search.json contains what snippet 9 was, which changes\n');
  });

  test.for([
    ['gz', gzipSync],
    ['br', brotliCompressSync],
    ['zst', zstdCompressSync],
  ] as const)('is found if only its compressed file is left: search.json.%s', async ([suffix, compress]) => {
    const text = JSON.stringify({ text: 'words with prices' });
    await writeFile(fileOf(`dist/search.json.${suffix}`), compress(`${'- '.repeat(60_000)}${text}`));
    await writeFile(fileOf(`dist/others.json.${suffix}`), compress('other words'));
    site.service.put(9, 'something else, of some length');
    const said = await exits(3, refresh());
    expect(said).toContain(`search.json.${suffix} contains what snippet 9 was, which changes\n`);
    expect(said).not.toContain('others.json');
  });

  test.for([
    ['is damaged', () => gzipSync('words with prices').subarray(0, -6)],
    ['holds too much', () => gzipSync(Buffer.alloc(70 * 2 ** 20))],
  ] as const)('may be a compressed file that %s, which is named', async ([, bytes]) => {
    await writeFile(fileOf('dist/search.json.gz'), bytes());
    site.service.put(9, 'something else, of some length');
    expect(await exits(3, refresh())).toContain(
      'search.json.gz is compressed, and cannot be searched: it is damaged, or holds more than 64 MiB\n',
    );
  });

  test('is not one that only holds a short text', async () => {
    await writeFile(fileOf('dist/short.txt'), 'Another site writes about the heffalump as well.');
    site.service.put(1, 'the woozle');
    expect(await refresh()).toMatchObject({ exitCode: 0 });
  });
});

describe('a file made from the text of a page', () => {
  const long = (words: number, word: string) =>
    Array.from({ length: words }, (_, index) => `${word}${index}`).join(' ');
  const json = (text: string) => JSON.stringify([{ url: '/', text }]);
  test.for<[name: string, old: string, current: string, files: Record<string, string | Buffer>]>([
    [
      'two paragraphs, in five extractions',
      '<p>alpha</p><p>beta</p>',
      'gamma',
      {
        'with-space.json': json('Prices Before you order alpha beta after that.'),
        'with-lines.json': json('Prices\nBefore you order\n\nalpha\n\nbeta\n\nafter that.'),
        'joined.json': json('PricesBefore you order alphabeta after that.'),
        'lower-case.js': 'self.text="prices before you order alpha  beta after that"',
        'page.md': '# Prices\n\nBefore you order\n\nalpha\n\nbeta\n\nafter that.',
      },
    ],
    [
      'a price',
      '<b>40&nbsp;€</b>',
      '45 €',
      {
        'page.md': 'Before you order **40 €** after that.',
        'search.json': json('prices before you order 40 € after that'),
        'in-url.txt': encodeURIComponent('you order 40 € after that'),
        'utf16.csv': Buffer.from('\uFEFFyou order;40 €;after that', 'utf16le'),
      },
    ],
    [
      '10 kB, at any place',
      `<p>${long(1_500, 'old')}</p>`,
      long(1_500, 'new'),
      Object.fromEntries(
        [0, 55_000, 57_000, 65_530].map((at) => [
          `at-${at}.txt`,
          `${'- \n'.repeat(at / 3)}${long(1_500, 'old')}`,
        ]),
      ),
    ],
    ['90 kB', `<p>${long(11_000, 'old')}</p>`, 'short', { 'all.txt': long(11_000, 'old') }],
  ])('keeps a refresh from writing: %s', async ([, old, current, files]) => {
    const service = await temporaryService({ 1: old });
    const folder = await folderWith({
      'public/index.html':
        '<h1>Prices</h1><p>Before you order <snippet-embed id="1"></snippet-embed> after that.</p>',
    });
    const run = (...argv: string[]) => cli(folder.directory, argv, service.environment);
    await exits(0, run('inline', 'public'));
    service.put(1, current);
    const ofOthers = {
      'others.json': json('40 alpha, beta 1, old0 after that'),
      'old0.txt': 'Before you order.',
    };
    for (const [name, bytes] of Object.entries({ ...files, ...ofOthers })) {
      await folder.write({ [`public/${name}`]: bytes });
    }
    const { notWritten } = JSON.parse(await exits(3, run('refresh', '--json')));
    const reason = 'contains what snippet 1 was, which changes';
    const expected = Object.keys(files).map((name) => ({ name, reason }));
    expect(notWritten).toHaveLength(expected.length);
    expect(notWritten).toEqual(expect.arrayContaining(expected));
  });
});

describe('a file that was there when snippets were inlined', () => {
  const words = 'words with <a href="/prices">prices</a> of today';
  const others = { 'by-hand.html': words, '_astro/bundle.js': words, 'search.json': JSON.stringify(words) };
  let service: TestService;
  let folder: Folder;
  const at = (name: string) => join(folder.directory, 'public', name);
  const run = (...argv: string[]) => cli(folder.directory, argv, service.environment);
  /** Sets the time of a file as a copy or a tool leaves it. */
  const setTime = async (name: string, timeOf: (mtimeMs: number) => number) => {
    const time = timeOf((await stat(at(name))).mtimeMs) / 1_000;
    await utimes(at(name), time, time);
  };

  beforeEach(async () => {
    service = await temporaryService({ 1: words });
    const files = { 'index.html': '<p><snippet-embed id="1"></snippet-embed></p>', ...others };
    folder = await folderWith(
      Object.fromEntries(Object.entries(files).map(([name, text]) => [`public/${name}`, text])),
    );
    await exits(0, run('inline', 'public'));
    service.put(1, 'other words');
  });

  test.for([
    ['as it is', (time: number) => time],
    ['copied, with its time in milliseconds', Math.round],
    ['unpacked, with its time in seconds', (time: number) => Math.floor(time / 1_000) * 1_000],
  ] as const)('was not made from pages: %s', async ([, timeOf]) => {
    for (const name of Object.keys(others)) await setTime(name, timeOf);
    expect(await exits(0, run('refresh'))).toBe('Updated index.html\n');
  });

  test.for([
    ['written again with the same bytes', (time: number) => time + 5_000],
    ['and has got an old time since', () => 1_000],
  ] as const)('may have been made from pages if it was %s', async ([, timeOf]) => {
    await setTime('search.json', timeOf);
    expect(await exits(3, run('refresh'))).toContain('search.json contains what snippet 1 was');
  });
});

test('a file that was copied to the output of `inline` was not made from pages, and one that was added there may be', async () => {
  const words = 'words with <a href="/prices">prices</a>';
  const service = await temporaryService({ 1: words });
  const folder = await folderWith({
    'public/index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
    'public/by-hand.html': words,
  });
  const run = (...argv: string[]) =>
    cli(folder.directory, [...argv, '--output', 'site'], service.environment);
  await exits(0, run('inline', 'public'));
  service.put(1, 'other words of some length');
  expect(await exits(0, run('refresh'))).toBe('Updated index.html\n');
  await folder.write({ 'site/search.json': JSON.stringify('These are other words of some length') });
  service.put(1, 'words again');
  expect(await exits(3, run('refresh'))).toContain('search.json contains what snippet 1 was');
});

test('a page by hand that has another time, as on another machine, may share a phrase with an old content', async () => {
  const service = await temporaryService({ 1: 'here we sell the best words with prices' });
  const folder = await folderWith({
    'public/index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
    'public/by-hand.html': '<p>They sell the best.</p>',
  });
  const run = (...argv: string[]) => cli(folder.directory, argv, service.environment);
  await exits(0, run('inline', 'public'));
  service.put(1, 'other words');
  await utimes(join(folder.directory, 'public/by-hand.html'), 1_000, 1_000);
  expect(await exits(0, run('refresh', '--dry-run'))).toContain('index.html would be written');
  await folder.write({ 'public/new.txt': 'Prices: we sell the best words.' });
  expect(await exits(3, run('refresh'))).toContain('new.txt contains what snippet 1 was');
});

describe('a build whose process has a clock that is ahead of the disk', () => {
  test('leaves a record with which a refresh finds copies, and what was made from pages', async () => {
    const service = await temporaryService({ 1: '<b>the words of the snippet</b>' });
    const site = await temporarySite({
      'side-products.mjs': sideProductIntegrations,
      'late.mjs': `
import { readFileSync, writeFileSync } from 'node:fs';
export const search = { name: 'search', hooks: { 'astro:build:done'() {
  const html = readFileSync('dist/index.html', 'utf8');
  if (process.env.SEARCH) writeFileSync('dist/search.json', JSON.stringify(html));
} } };
const now = Date.now;
Date.now = () => now() + 10_000;`,
      'astro.config.mjs': configWith('', {
        imports: `import { search } from './late.mjs'; import { copy } from './side-products.mjs';`,
        integrations: 'search, copy(), ',
      }),
      'src/pages/index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
      'src/pages/plain.html': '<p>the words of the snippet</p>',
    });
    const build = (more = {}) => site.start(['build'], { ...service.environment, ...more }).ended;
    const refresh = () => cli(site.directory, ['refresh'], service.environment);
    await exits(0, build({ SEARCH: '1' }));
    service.put(1, 'other words');
    expect(await exits(3, refresh())).toContain('search.json contains what snippet 1 was');

    // Without the plain page, only copies are left to find.
    await rm(join(site.directory, 'src/pages/plain.html'));
    await exits(0, build());
    service.put(1, 'newer');
    expect(await exits(0, refresh())).toContain('Updated index.html\n');
    expect((await site.texts('.vercel/output/static'))['index.html']).toContain('newer');
  });

  test('does not take an older copy of the output for its own', async () => {
    const service = await temporaryService({ 1: 'one' });
    const site = await temporarySite(
      {
        'late.mjs': `export const late = { name: 'late', hooks: { 'astro:build:done'() {} } };`,
        'astro.config.mjs': configWith('', {
          imports: `import { late } from './late.mjs';`,
          integrations: 'late, ',
        }),
        'src/pages/index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
      },
      service,
    );
    await site.builds();
    await cp(join(site.directory, 'dist'), join(site.directory, '.vercel/output/static'), {
      recursive: true,
    });
    await site.builds();
    service.put(1, 'two');
    await exits(0, site.run('refresh'));
    expect((await site.texts('.vercel/output/static'))['index.html']).toContain('one');
  });
});

describe('refresh --after', () => {
  const renew = `node -e "${renewPrecache}"`;
  const count = `node -e "fs.appendFileSync('runs', 'x')"`;
  const runs = async () => (await readFile(fileOf('runs'), 'utf8').catch(() => '')).length;
  const checked = { exitCode: 0 };
  beforeEach(async () => {
    site = await copyOfEverything('sw.js');
    site.service.put(2, 'about them');
  });

  test('is required, with status 3, if a service worker lists the revision of a page', async () => {
    const before = await output();
    const refused = {
      exitCode: 3,
      output: `sw.js contains the revision of about.html, which changes
Nothing was written. Build the site, or refresh with a command that renews what was made from its pages: --after '<the command that writes sw.js>'
`,
    };
    expect(await refresh()).toMatchObject(refused);
    expect(await refresh('--skip-modified')).toMatchObject(refused);
    expect(await exits(3, refresh('--dry-run'))).toContain(
      'sw.js contains the revision of about.html, which changes\nNothing would be written.',
    );
    expect(await output()).toEqual(before);
  });

  test('runs its command once after pages were written, and never without or in a dry run', async () => {
    expect(await exits(0, refresh('--dry-run', '--after', count))).toContain('about.html would be written\n');
    expect(await runs()).toBe(0);
    expect(await refresh('--after', `${count} && ${renew}`)).toMatchObject({ exitCode: 0, output: about });
    expect(await runs()).toBe(1);
    expect(await site.run('check')).toMatchObject(checked);
    expect(await refresh('--after', count)).toMatchObject({ exitCode: 0, output: 'Nothing has changed.\n' });
    expect(await runs()).toBe(1);
  });

  test('exits with 1 if the command fails, and runs it again next time although no page changes', async () => {
    const failed = await refresh('--after', 'echo fails with 7 && exit 7');
    expect(failed).toMatchObject({
      exitCode: 1,
      stdout: `fails with 7\n${about}`,
      stderr: expect.stringContaining(
        'The pages are written, but the command of --after exited with status 7, so what was made from them may be out of date. Fix the command and refresh with --after again: it is run even if nothing else has changed.\n',
      ),
    });
    const line = 'The command of the last refresh --after has not succeeded yet\n';
    expect(await site.run('check')).toMatchObject({ exitCode: 10, output: line });
    expect(JSON.parse((await site.run('check', '--json')).stdout)).toMatchObject({
      changed: [],
      unfinished: [{ name: 'The command of the last refresh --after', reason: 'has not succeeded yet' }],
    });
    expect(await exits(3, refresh())).toBe(
      `${line}Nothing was written. Build the site, or refresh with the same --after again.\n`,
    );
    expect(await refresh('--after', `${count} && ${renew}`)).toMatchObject({ exitCode: 0 });
    expect(await runs()).toBe(1);
    expect(await site.run('check')).toMatchObject(checked);
  });

  test('waits for the command of another refresh before it runs its own', async () => {
    await site.write({
      'slow.mjs': `import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
appendFileSync('runs', 'x');
while (!existsSync('ready')) await setTimeout(20);`,
    });
    const start = () => site.start(['refresh', '--after', `node slow.mjs && ${renew}`]);
    const first = start();
    await expect.poll(runs).toBe(1);
    const second = start();
    await expect.poll(second.output).toMatch(/^Waiting for another astro-snippets process \(pid \d+\)\.\n$/);
    await site.write({ ready: '' });
    expect(await first.ended).toMatchObject({ exitCode: 0 });
    expect(await second.ended).toMatchObject({ exitCode: 0, stdout: 'Nothing has changed.\n' });
    expect(await runs()).toBe(1);
  });

  test('keeps a record that its command has written, as a build does', async () => {
    const built = { ...(await readRecord(site.record)), builtAt: '2030-01-01T00:00:00Z' };
    await copyFile(site.record, fileOf('built.json'));
    await changeRecord(fileOf('built.json'), () => built);
    const build = `${renew} && node -e "fs.copyFileSync('built.json', '${site.record}')"`;
    expect(await refresh('--after', build)).toMatchObject({ exitCode: 0 });
    expect(await readRecord(site.record)).toEqual(built);
  });
});

describe('files made from the pages of a folder after they were inlined', () => {
  let folder: Folder;
  let service: TestService;
  const page = '<p><b>one</b></p>';
  const digest = (algorithm: string, encoding: 'hex' | 'base64') => hash(algorithm, page, encoding);
  const run = (...argv: string[]) => cli(folder.directory, argv, service.environment);
  /** The names of the files that keep a refresh of `about/index.html` from writing anything. */
  async function stale(files: Record<string, string>): Promise<string[]> {
    for (const [name, text] of Object.entries(files)) await folder.write({ [`public/${name}`]: text });
    const { notWritten } = JSON.parse((await run('refresh', '--json')).stdout);
    return notWritten.map(({ name }: { name: string }) => name).sort();
  }

  beforeEach(async () => {
    service = await temporaryService({ 1: '<b>one</b>' });
    folder = await folderWith({
      'public/about/index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
      'public/index.html': 'home',
      'public/contact.html': 'contact',
    });
    await run('inline', 'public');
    service.put(1, '<b>two</b>');
  });

  test('are found by digests of the page, and others are not', async () => {
    const found = {
      _headers: `/about\n  ETag: "${digest('md5', 'hex')}"`,
      'digests.txt': `x ${digest('sha512', 'hex')} about`,
      'integrity.json': `{"about":"sha256-${digest('sha256', 'base64')}"}`,
      'path.txt': `/assets/${digest('sha1', 'hex')}.json`,
      'large.txt': `${'ab \n'.repeat(16_381)}${digest('sha384', 'base64')}`,
    };
    const others = {
      'another.txt': `${hash('md5', 'another')} ${digest('md5', 'hex').slice(1)} 0${digest('md5', 'hex')}`,
      'app.js.map': digest('md5', 'hex'),
      'picture.png': digest('md5', 'hex'),
      'style.css': digest('md5', 'hex'),
    };
    await folder.write({ 'public/large.bin': `\0${digest('md5', 'hex')}` });
    await truncate(join(folder.directory, 'public/large.bin'), 65 * 2 ** 20);
    expect(await stale({ ...found, ...others })).toEqual(Object.keys(found).sort());
  });

  test('are found by hashes of code that a changed snippet had, without a policy in the settings', async () => {
    const snippet = (color: string, script = color) =>
      `<style>b { color: ${color} }</style><script>\r\ngo("${script}")</script><script>stays()</script><b style="--ü: &quot;${color}&quot;" onclick="${script}()">word</b>`;
    service.put(2, snippet('red'));
    service.put(3, '<script>kept()</script>old words of a snippet');
    const page = '<snippet-embed id="2"></snippet-embed><snippet-embed id="3"></snippet-embed>';
    folder = await folderWith({ 'public/index.html': page });
    await run('inline', 'public');
    service.put(2, snippet('blue'));
    service.put(3, '<script>kept()</script>other words of a snippet');

    const sha = (size: number, code: string, encoding: 'hex' | 'base64' | 'base64url' = 'base64') =>
      hash(`sha${size}`, code, encoding);
    const found = {
      _headers: `/*\n  Content-Security-Policy: script-src 'self' 'sha256-${sha(256, '\ngo("red")')}'`,
      'style.txt': `style-src 'sha384-${sha(384, 'b { color: red }')}'`,
      'attribute.conf': `'sha512-${sha(512, '--ü: "red"', 'base64url')}'`,
      'handler.json': JSON.stringify(sha(256, 'red()')).replaceAll(/[+/]/g, (mark) =>
        mark === '/' ? '\\u002F' : '\\u002b',
      ),
      'hexadecimal.txt': `red${sha(256, 'red()', 'hex')}`,
      'beside-new-code.txt': `script-src 'sha256-${sha(256, 'stays()')}'`,
    };
    const others = {
      'new.txt': `script-src 'sha256-${sha(256, '\ngo("blue")')}'`,
      'unchanged.txt': `script-src 'sha256-${sha(256, 'kept()')}'`,
      'another.txt': `script-src 'sha256-${sha(256, 'green()')}' ${'a'.repeat(99)}`,
    };
    expect(await stale({ ...found, ...others })).toEqual(Object.keys(found).sort());
  });

  test('are found by an entry for the page in any precache list, and others are not', async () => {
    const entries = {
      minified: 'e.precacheAndRoute([{url:"about/index.html",revision:"abc"}],{})',
      'revision-first': `[{revision:'abc',url:'/about/'}]`,
      json: '[ { "url": "https://example.org/about",\n "revision": "abc" } ]',
      templates: '[{url:`/base/about/index.html?v=1#top`,revision:`abc`}]',
      'scripts/relative': '[{url:"../about/",revision:"1"}]',
    };
    const others = {
      'another-page': '[{url:"/",revision:"1"},{url:"contact",revision:"2"},{url:"",revision:"3"}]',
      'its-own-version': '[{url:"/about/",revision:null},{url:"about",revision:void 0}]',
      'no-list': 'const revision = "1"; const url = "about"; // revision: "y"',
      'scripts/elsewhere':
        '[{url:"about",revision:"1"},{url:"%",revision:"1"},{url:"https://",revision:"1"}]',
    };
    const named = (lists: Record<string, string>) =>
      Object.fromEntries(Object.entries(lists).map(([name, text]) => [`${name}.js`, text]));
    expect(await stale(named({ ...entries, ...others }))).toEqual(Object.keys(named(entries)).sort());
  });

  test('are found in a search index in the output, and its command is named', async () => {
    await folder.write({ 'public/my docs/search/pagefind-entry.json': '{}' });
    expect((await run('refresh')).stdout).toContain(
      `--after 'rm -rf "public/my docs/search" && pagefind --site public --output-subdir "my docs/search"'`,
    );
  });

  test.for([
    [
      'beside the file of another tool',
      'pagefind/pagefind-entry.json',
      { 'public/pagefind/theme.json': '{}' },
    ],
    ['beside the pages', 'pagefind-entry.json', {}],
  ] as const)(
    'no command that would delete other files is named for a search index %s',
    async ([, index, others]) => {
      await folder.write({ [`public/${index}`]: '{}', 'public/pagefind/index/en_1.pf_index': '', ...others });
      const { stdout } = await run('refresh');
      expect(stdout).toContain(`--after '<the command that writes ${index}>'`);
      expect(stdout).not.toContain('rm -rf');
    },
  );
});

test('a Pagefind index is a reason for status 3 until --after rebuilds it with the command from the message', async () => {
  const copy = '.vercel/output/static';
  site = await copyOfEverything('pagefind');
  await cp(fileOf('dist/pagefind'), fileOf(`${copy}/pagefind`), { recursive: true });
  site.service.put(1, 'the woozle');
  const commandOf = (folder: string) => `rm -rf ${folder}/pagefind && pagefind --site ${folder}`;
  const command = `${commandOf('dist')} && ${commandOf(copy)}`;
  const before = await output();
  const reasons = ['', `${copy}/`].map(
    (folder) =>
      `${folder}pagefind/pagefind-entry.json is a search index of pages that change, such as index.html\n`,
  );
  expect(await exits(3, refresh())).toBe(
    `${reasons.join('')}Nothing was written. Build the site, or refresh with a command that renews what was made from its pages: --after '${command}'\n`,
  );
  expect(await output()).toEqual(before);
  const said = await exits(0, refresh('--after', command));
  expect(said).toContain('Updated data.json\nUpdated index.html\nUpdated rss.xml\n');
  for (const folder of ['dist', copy]) {
    const index = (await site.contents(`${folder}/pagefind`)).get(`${folder}/pagefind/pagefind-entry.json`);
    expect(index).not.toEqual(before.get(`${folder}/pagefind/pagefind-entry.json`));
  }
  expect(await site.run('check')).toMatchObject({ exitCode: 0 });
});
