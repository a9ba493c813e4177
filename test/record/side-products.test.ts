import { hash } from 'node:crypto';
import { mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { mkdir, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findDerivedFiles, searchIndexCommand } from '../../src/record/side-products/derived-files.ts';
import { compress, decompress, suffixes } from '../../src/record/side-products/encodings.ts';
import { listPageCopies, readPageCopy } from '../../src/record/side-products/page-copies.ts';
import { fileOfUrl, precachedUrls } from '../../src/record/side-products/precache.ts';
import { findCopies } from '../../src/record/side-products/site-folders.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'snippets-side-'));
});
afterEach(() => rmSync(root, { recursive: true }));

async function write(files: Record<string, string | Buffer>): Promise<void> {
  for (const [name, bytes] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), bytes);
  }
}

const page = Buffer.from('<p>about us</p>');

describe.each(suffixes)('a compressed file %s', (suffix) => {
  test('gives back what was compressed', async () => {
    expect(decompress(await compress(page, suffix), suffix, page.length)).toEqual(page);
    expect(decompress(await compress(Buffer.alloc(0), suffix), suffix, 0)).toEqual(Buffer.alloc(0));
  });

  test('that holds more than the page, is cut off or is something else holds nothing', async () => {
    const bomb = await compress(Buffer.alloc(5 * 2 ** 20), suffix);
    expect(decompress(bomb, suffix, page.length)).toBeUndefined();
    const cut = (await compress(page, suffix)).subarray(0, -9);
    expect(decompress(cut, suffix, page.length)).not.toEqual(page);
    expect(decompress(page, suffix, page.length)).toBeUndefined();
  });
});

test('the copies of a page are its compressed files, and all of them in a copy of the output', async () => {
  await write({
    'dist/a.html': page,
    'dist/a.html.gz': gzipSync(page),
    'dist/a.html.br': 'a folder would not count',
    'copy/a.html': page,
    'copy/a.html.gz': 'no gzip',
  });
  const folders = [
    { directory: join(root, 'dist'), shown: 'dist' },
    { directory: join(root, 'copy'), shown: 'copy', copy: '../copy' },
  ];
  const copies = listPageCopies(folders, 'a.html');
  expect(copies.map(({ file }) => file.slice(root.length + 1))).toEqual([
    'dist/a.html.gz',
    'dist/a.html.br',
    'copy/a.html',
    'copy/a.html.gz',
  ]);
  expect(copies.map((copy) => readPageCopy(copy, page.length)?.equals(page))).toEqual([
    true,
    undefined,
    true,
    undefined,
  ]);
  // One that a copy lacks is not a copy.
  expect(listPageCopies(folders, 'b.html').map((copy) => readPageCopy(copy, 9))).toEqual([undefined]);
});

test.each([
  ['minified', `e.precacheAndRoute([{url:"about/index.html",revision:"abc"}],{})`],
  ['with its revision first', `[{revision:'abc',url:'about/index.html'}]`],
  ['as JSON', `[ { "url": "about/index.html",\n "revision": "abc" } ]`],
  ['in template literals', '[{url:`about/index.html`,revision:`abc`}]'],
  [
    'beside those whose URL is their version',
    `[{url:"/a.js",revision:null},{url:"about/index.html",revision:"1"}]`,
  ],
])('an entry of a precache list is read when written %s', (_how, text) => {
  expect(precachedUrls(text)).toEqual(['about/index.html']);
  expect(precachedUrls('const revision = "1"; const url = "x"; // revision: "y"')).toEqual([]);
});

describe('a URL', () => {
  const files = new Set(['index.html', 'about/index.html', 'contact.html', 'docs/about/index.html']);
  test.each([
    ['', 'sw.js', 'index.html'],
    ['about/', 'sw.js', 'about/index.html'],
    ['/about/index.html', 'sw.js', 'about/index.html'],
    ['https://example.org/about/', 'sw.js', 'about/index.html'],
    ['contact.html?v=1#top', 'sw.js', 'contact.html'],
    ['../about/', 'scripts/sw.js', 'about/index.html'],
    ['/base/contact', 'sw.js', 'contact.html'],
    ['/docs/about/', 'sw.js', 'docs/about/index.html'],
    ['elsewhere/about', 'sw.js', undefined],
    ['%', 'sw.js', undefined],
  ])('%j in %s is the file %s', (url, from, expected) => {
    expect(fileOfUrl(url, from, (name) => files.has(name))).toBe(expected);
  });
});

test('files that were made from a page are found, with the page, and others are not', async () => {
  const md5 = hash('md5', page);
  await write({
    'about/index.html': page,
    'index.html': 'home',
    'deep/pagefind/pagefind-entry.json': '{}',
    'deep/pagefind/fragment.txt': md5,
    'sw.js': `[{url:"about",revision:"of-the-git-commit"}]`,
    'digests.txt': `x ${hash('sha512', page)} about`,
    'integrity.json': `{"about":"sha256-${hash('sha256', page, 'base64')}"}`,
    'path.txt': `/assets/${md5}.json`,
    _headers: `/about\n  ETag: "${md5}"`,
    'style.css': md5,
    'app.js.map': md5,
    'page-with-digest.html': md5,
    'other-sw.js': `[{url:"index.html",revision:"1"}]`,
    'picture.png': md5,
    'another.txt': `${hash('md5', 'another page')} ${md5.slice(1)} 0${md5}`,
  });
  const folder = { directory: root, shown: '.' };
  const about = 'about/index.html';
  const found = findDerivedFiles([folder], [{ name: about, before: page }]);
  expect(found).toEqual([
    { folder, name: 'deep/pagefind/pagefind-entry.json', kind: 'search-index', page: about },
    ...['_headers', 'digests.txt', 'integrity.json', 'path.txt', 'sw.js'].map((name) => ({
      folder,
      name,
      kind: 'revision',
      page: about,
    })),
  ]);
  // Pagefind indexes no feeds.
  expect(findDerivedFiles([folder], [{ name: 'rss.xml', before: Buffer.from('feed') }])).toEqual([]);
});

test('a digest, and an entry of a precache list, is found anywhere in a large file', async () => {
  const piece = 64 * 1024;
  const find = () => findDerivedFiles([{ directory: root, shown: '.' }], [{ name: 'x.html', before: page }]);
  for (const text of [`"${hash('sha256', page)}"`, '{url:"x.html",revision:"one"}']) {
    for (const start of [0, piece - 20, piece - 1, piece, 3 * piece - 12]) {
      const before = 'ab \n'.repeat(Math.ceil(start / 4)).slice(0, start);
      await write({ 'data.json': `${before}${text}${' cd\n'.repeat(100)}` });
      expect(find(), `${text} at ${start}`).toHaveLength(1);
    }
  }
});

test.each([
  ['text', 1],
  ['binary\0', 0],
])('of a file of 65 MB that begins as %j, %i are searched', async (beginning, found) => {
  const start = `${beginning} ${hash('sha256', page)}`.padEnd(2 ** 20);
  await write({ 'unknown.extension': start });
  await truncate(join(root, 'unknown.extension'), 65 * 2 ** 20);
  const files = findDerivedFiles([{ directory: root, shown: '.' }], [{ name: 'x.html', before: page }]);
  expect(files).toHaveLength(found);
});

test('the command for search indexes removes the old ones, and copies what it makes', () => {
  const at = (shown: string, name: string, copy?: string) =>
    ({
      folder: { directory: join(root, shown), shown, copy },
      name,
      kind: 'search-index',
      page: 'x.html',
    }) as const;
  const main = at('dist', 'pagefind/pagefind-entry.json');
  expect(searchIndexCommand([main])).toBe('rm -rf dist/pagefind && pagefind --site dist');
  expect(searchIndexCommand([main, at('.vercel/output/static', main.name, '../.vercel')])).toBe(
    'rm -rf dist/pagefind .vercel/output/static/pagefind && pagefind --site dist && cp -R dist/pagefind .vercel/output/static/pagefind',
  );
  expect(searchIndexCommand([at('my site', 'docs/search/pagefind-entry.json')])).toBe(
    'rm -rf "my site/docs/search" && pagefind --site "my site" --output-subdir docs/search',
  );
});

test('a copy of the output is one that was made since, and holds the same', async () => {
  const copy = '.vercel/output/static';
  const find = (since: number) =>
    findCopies(root, join(root, 'dist'), { names: ['a.html', 'b.html'], since }).map((one) =>
      one.slice(root.length + 1),
    );
  await write({ 'dist/a.html': 'a', 'dist/b.html': 'b' });
  expect(find(0)).toEqual([]);
  await write({ [`${copy}/a.html`]: 'other' });
  expect(find(0)).toEqual([]);
  await write({ [`${copy}/b.html`]: 'b' });
  expect(find(0)).toEqual([copy]);
  // Copied with the times of the original.
  utimesSync(join(root, copy, 'b.html'), 1, 1);
  expect(find(Date.now() - 5_000)).toEqual([copy]);
  expect(find(Date.now() + 10_000)).toEqual([]);
});
