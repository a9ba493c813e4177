import { expect, test } from 'vitest';
import {
  canonicalPath,
  decodePath,
  pathBelow,
  pathOfFile,
  publishedUrl,
  type SiteUrls,
} from '../../src/settings/site-urls.ts';

const plain = { base: '/', trailingSlash: 'ignore' } as const;
const always = { base: '/docs/', trailingSlash: 'always' } as const;
const never = { base: '/docs', trailingSlash: 'never' } as const;
const site = 'https://example.com/ignored';

test.each([
  ['index.html', plain, '/'],
  ['about/index.html', plain, '/about/'],
  ['about.html', plain, '/about'],
  ['feed.xml', plain, '/feed.xml'],
  ['index.html', always, '/docs/'],
  ['about/index.html', always, '/docs/about/'],
  ['about.html', always, '/docs/about/'],
  ['data.json', always, '/docs/data.json'],
  ['index.html', never, '/docs'],
  ['about/index.html', never, '/docs/about'],
  ['index.html', { base: '/', trailingSlash: 'never' } as const, '/'],
  ['a "b" \\ c?d#e.html', plain, '/a%20%22b%22%20%5C%20c%3Fd%23e'],
  ['line\nbreak/index.html', plain, '/line%0Abreak/'],
  ['über/index.html', plain, '/%C3%BCber/'],
])('the file %j is published by %j as %s', (name, urls, url) => {
  const isPage = name.endsWith('.html');
  expect(publishedUrl(name, isPage, urls)).toBe(url);
  expect(publishedUrl(name, isPage, { ...urls, site })).toBe(`https://example.com${url}`);
});

test.each([
  ['index.html', '/'],
  ['about/index.html', '/about/'],
  ['about.html', '/about.html'],
])('without Astro, the file %s is published as %s', (name, url) => {
  expect(publishedUrl(name, true, undefined)).toBe(url);
});

const directory: SiteUrls = { base: '/', trailingSlash: 'ignore', format: 'directory' };
test.for<[SiteUrls, string, string[], string]>([
  [directory, 'about/index.html', ['/about', '/about/', '/about.html'], '/about/'],
  [directory, 'index.html', ['/', '/index.html'], '/'],
  [directory, '404.html', ['/404'], '/404/'],
  [directory, 'caf\u00e9/index.html', ['/caf%C3%A9'], '/caf%C3%A9/'],
  [{ ...directory, base: '/docs/' }, 'index.html', ['/docs', '/docs/'], '/docs/'],
  [{ ...directory, base: '/docs', trailingSlash: 'never' }, 'index.html', ['/docs'], '/docs'],
  [{ ...directory, trailingSlash: 'never' }, 'a/b/index.html', ['/a/b'], '/a/b'],
  [{ ...directory, format: 'file' }, 'a/b.html', ['/a/b', '/a/b.html'], '/a/b'],
  [{ ...directory, format: 'file', trailingSlash: 'always' }, 'a/b.html', ['/a/b/'], '/a/b/'],
])(
  'with %j, the path of the built file %s is the same for a request in dev',
  ([urls, file, paths, expected]) => {
    expect(pathOfFile(file, true, urls)).toBe(expected);
    for (const path of paths) expect(canonicalPath(path, true, urls)).toBe(expected);
  },
);

test.for([
  ['/docs', '/docs', '/'],
  ['/docs/', '/docs', '/'],
  ['/docs', '/docs/docs/', '/docs/'],
  ['/docs/', '/docsify/', '/docsify/'],
  ['/', '/docs/', '/docs/'],
  ['/', '', '/'],
] as const)('below the base %s, %s is %s', ([base, path, below]) => {
  expect(pathBelow(base, path)).toBe(below);
});

test.for([
  ['/caf%C3%A9/a%20b', '/café/a b'],
  ['/100%/%C3%BC', '/100%/ü'],
  ['/100%25/%FF', '/100%/%FF'],
  ['/a%2Fb%3F', '/a%2Fb%3F'],
] as const)('the path %s is decoded as %s', ([path, decoded]) => {
  expect(decodePath(path)).toBe(decoded);
});
