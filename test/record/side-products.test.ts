import { hash } from 'node:crypto';
import { mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findDerivedFiles, searchIndexCommand } from '../../src/record/side-products/derived-files.ts';
import { digestFinder } from '../../src/record/side-products/digests.ts';
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

describe('a compressed file', () => {
  test.each(suffixes)('%s gives back what was compressed', async (suffix) => {
    const compressed = await compress(page, suffix);
    expect(compressed.equals(page)).toBe(false);
    expect(decompress(compressed, suffix, page.length)).toEqual(page);
  });
  test.each(suffixes)('%s that holds more than the page is not read to its end', async (suffix) => {
    const bomb = await compress(Buffer.alloc(50 * 2 ** 20), suffix);
    expect(decompress(bomb, suffix, page.length)).toBeUndefined();
  });
  test.each(suffixes)('%s that is cut off or something else holds nothing', async (suffix) => {
    const compressed = await compress(page, suffix);
    expect(decompress(compressed.subarray(0, -9), suffix, page.length)).not.toEqual(page);
    expect(decompress(page, suffix, page.length)).toBeUndefined();
    expect(decompress(Buffer.alloc(0), suffix, page.length)).not.toEqual(page);
  });
  test('of an empty page is read', async () => {
    expect(decompress(gzipSync(''), '.gz', 0)).toEqual(Buffer.alloc(0));
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

describe('digests of a page', () => {
  test.each(
    ['md5', 'sha1', 'sha256', 'sha384', 'sha512'].flatMap((algorithm) =>
      (['hex', 'base64'] as const).map((encoding) => [algorithm, encoding] as const),
    ),
  )('%s as %s is found in what may stand around it', (algorithm, encoding) => {
    const digest = hash(algorithm, page, encoding);
    for (const text of [
      digest,
      `{"revision":"${digest}"}`,
      `integrity="${algorithm}-${digest}"`,
      `a${'x'.repeat(100)} ${digest}\n`,
    ]) {
      expect(digestFinder([page])(text), text).toBe(0);
    }
  });
  test('in hexadecimal are found in a path', () => {
    expect(digestFinder([page])(`/assets/${hash('sha256', page)}.json`)).toBe(0);
  });
  test('of other pages, and cut ones, are not found', () => {
    const md5 = hash('md5', page);
    for (const text of [hash('md5', 'another page'), md5.slice(1), `0${md5}`, '']) {
      expect(digestFinder([page])(text), text).toBeUndefined();
    }
  });
  test('tell pages apart', () => {
    const find = digestFinder([Buffer.from('another page'), page, Buffer.from('a third one')]);
    expect(find(hash('md5', page, 'base64'))).toBe(1);
    expect(find(hash('sha1', 'a third one'))).toBe(2);
  });
});

describe('a precache list', () => {
  test.each([
    ['minified', `e.precacheAndRoute([{url:"about/index.html",revision:"abc"}],{})`],
    ['revision first', `[{revision:'abc',url:'about/index.html'}]`],
    ['JSON', `[ { "url": "about/index.html",\n "revision": "abc" } ]`],
    ['template literals', '[{url:`about/index.html`,revision:`abc`}]'],
  ])('is read when written as %s', (_name, text) => {
    expect(precachedUrls(text)).toEqual(['about/index.html']);
  });
  test('lists each entry, and leaves out those whose URL is their version', () => {
    const entries = `[{url:"/",revision:"1"},{url:"/a.js",revision:null},{url:"/b",revision:void 0},{url:"c",revision:"2"}]`;
    expect(precachedUrls(entries)).toEqual(['/', 'c']);
  });
  test('is not seen in other text about revisions', () => {
    expect(precachedUrls('const revision = "1"; const url = "x"; // revision: "y"')).toEqual([]);
  });
});

describe('a URL', () => {
  const files = new Set(['index.html', 'about/index.html', 'contact.html', 'docs/about/index.html']);
  test.each([
    ['', 'sw.js', 'index.html'],
    ['/', 'sw.js', 'index.html'],
    ['./', 'sw.js', 'index.html'],
    ['index.html', 'sw.js', 'index.html'],
    ['about', 'sw.js', 'about/index.html'],
    ['about/', 'sw.js', 'about/index.html'],
    ['/about/index.html', 'sw.js', 'about/index.html'],
    ['https://example.org/about/', 'sw.js', 'about/index.html'],
    ['/contact', 'sw.js', 'contact.html'],
    ['contact.html?v=1#top', 'sw.js', 'contact.html'],
    ['../about/', 'scripts/sw.js', 'about/index.html'],
    ['/base/contact', 'sw.js', 'contact.html'],
    ['/docs/about/', 'sw.js', 'docs/about/index.html'],
    ['/base/', 'sw.js', 'index.html'],
    ['elsewhere/about', 'sw.js', undefined],
    ['%', 'sw.js', undefined],
    ['https://', 'sw.js', undefined],
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
    _headers: `/about\n  ETag: "${md5}"`,
    'style.css': md5,
    'app.js.map': md5,
    'page-with-digest.html': md5,
    'other-sw.js': `[{url:"index.html",revision:"1"}]`,
    'picture.png': md5,
  });
  const folder = { directory: root, shown: '.' };
  const found = findDerivedFiles([folder], [{ name: 'about/index.html', before: page }]);
  expect(found).toEqual([
    { folder, name: 'deep/pagefind/pagefind-entry.json', kind: 'search-index', page: 'about/index.html' },
    { folder, name: '_headers', kind: 'revision', page: 'about/index.html' },
    { folder, name: 'digests.txt', kind: 'revision', page: 'about/index.html' },
    { folder, name: 'sw.js', kind: 'revision', page: 'about/index.html' },
  ]);
  // Pagefind indexes no feeds.
  expect(findDerivedFiles([folder], [{ name: 'rss.xml', before: Buffer.from('feed') }])).toEqual([]);
});

test('a digest, and an entry of a precache list, is found anywhere in a large file', async () => {
  const piece = 64 * 1024;
  const find = () => findDerivedFiles([{ directory: root, shown: '.' }], [{ name: 'x.html', before: page }]);
  for (const text of [`"${hash('sha256', page)}"`, '{url:"x.html",revision:"one"}']) {
    for (const start of [0, piece - 20, piece - 1, piece, 3 * piece - 12, 20_000_000]) {
      const before = 'ab \n'.repeat(Math.ceil(start / 4)).slice(0, start);
      await write({ 'data.json': `${before}${text}${' cd\n'.repeat(100)}` });
      expect(find(), `${text} at ${start}`).toHaveLength(1);
    }
  }
});

test('a large file is searched for digests if it is text, and not if it is binary', async () => {
  const file = join(root, 'unknown.extension');
  for (const [beginning, found] of [
    ['text', 1],
    ['binary\0', 0],
  ] as const) {
    await writeFile(file, Buffer.concat([Buffer.from(beginning), Buffer.alloc(65 * 2 ** 20, ' ')]));
    await appendFile(file, hash('sha256', page));
    const files = findDerivedFiles([{ directory: root, shown: '.' }], [{ name: 'x.html', before: page }]);
    expect(files, beginning).toHaveLength(found);
  }
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
