import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { charts, performancePage } from '../bench/page.ts';
import { fullResult, peersResult } from '../bench/result.ts';
import { llmsText } from './llms.ts';
import { fillPage, generatedParts, pages, readPage } from './pages.ts';
import { documentedOptions, reference } from './reference.ts';

const root = join(import.meta.dirname, '../..');
const partsOf = new Map(pages.map((page) => [page, generatedParts(readPage(page))]));

test.each(pages)('the generated parts of %s are current (npm run docs updates them)', (page) => {
  expect(readPage(page)).toBe(fillPage(readPage(page), reference()));
});

test('every generated part of a page has a source, and every part is on a page', () => {
  const used = new Set([...partsOf.values()].flat());
  const outputNames = [...used].filter((name) => name.endsWith('-output') || name === 'failed-build');
  expect([...used].sort()).toEqual([...reference().keys(), ...outputNames].sort());
});

test('every option has a description in its doc comment', () => {
  const options = documentedOptions();
  expect(options.map(({ name }) => name)).toContain('concurrency');
  expect(options.find(({ name }) => name === 'cache')?.inner.map(({ name }) => name)).toContain('maxAge');
  for (const { description } of options.flatMap((option) => [option, ...option.inner])) {
    expect(description).toMatch(/^\S.{10,}/);
  }
});

test('the performance page and its charts are those of the last whole run (npm run docs updates them)', () => {
  const result = JSON.parse(readFileSync(fullResult, 'utf8'));
  const peers = existsSync(peersResult) ? JSON.parse(readFileSync(peersResult, 'utf8')) : undefined;
  expect(readPage('docs/performance.md')).toBe(performancePage(result, peers));
  for (const [name, svg] of charts(result, peers)) {
    expect(readFileSync(join(root, 'docs/performance', name), 'utf8')).toBe(svg);
  }
});

test('the README is short enough for five minutes', () => {
  expect(readPage('README.md').split('\n').length).toBeLessThanOrEqual(200);
  expect(partsOf.get('README.md')).toContain('how-fast');
});

test('llms.txt is current and names each page (npm run docs updates it)', () => {
  const text = readFileSync(join(root, 'llms.txt'), 'utf8');
  expect(text).toBe(llmsText());
  for (const page of pages.filter((name) => name !== 'docs/README.md')) expect(text).toContain(`](${page})`);
});
