import { expect, test } from 'vitest';
import { publishedUrl } from '../../src/settings/site-urls.ts';

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
])('where Astro did not write it, the file %s is published as %s', (name, url) => {
  expect(publishedUrl(name, true, undefined)).toBe(url);
});
