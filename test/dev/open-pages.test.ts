import { expect, test } from 'vitest';
import { parseRequest } from '../../src/client/snippet-request.ts';
import { OpenPages } from '../../src/dev/open-pages.ts';

const shown = () => {
  const request = parseRequest('42', undefined);
  const snippet = { request, asHtml: true, surroundings: new Set<never>(), html: '<p>42</p>', text: '42' };
  return new Map([[request.key, { snippet, hasChildren: false, isOptional: false }]]);
};

test('a page that was served before there were new styles is outdated, until it is served again', () => {
  const pages = new OpenPages();
  pages.serve('/', shown());
  expect(pages.isOutdated('/')).toBe(false);

  expect(pages.restyle()).toEqual(['/']);
  expect(pages.isOutdated('/')).toBe(true);
  // What the page has fetched since comes after its styles.
  pages.addTo('/', shown());
  expect(pages.isOutdated('/')).toBe(true);

  pages.serve('/', shown());
  expect(pages.isOutdated('/')).toBe(false);
});

test('a page without snippets has no styles of snippets', () => {
  const pages = new OpenPages();
  pages.serve('/', new Map());
  expect(pages.restyle()).toEqual([]);
  expect(pages.isOutdated('/')).toBe(false);
});
