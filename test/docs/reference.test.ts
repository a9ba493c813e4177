import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { errors } from '../../src/failures/errors.ts';
import { charts, performancePage, readmeLines } from '../bench/page.ts';
import { fullResult } from '../bench/result.ts';
import { documentedOptions, errorsPage, exitStatusTable, optionsTable } from './reference.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, '../..', name), 'utf8');

test('the table of options in the README matches the source (npm run docs updates it)', () => {
  expect(read('README.md')).toContain(`\n${optionsTable()}\n`);
});

test('the table of exit statuses in the README matches the source (npm run docs updates it)', () => {
  expect(read('README.md')).toContain(`\n${exitStatusTable()}\n`);
});

test('every option has a description in its doc comment', () => {
  const options = documentedOptions();
  expect(options.map(({ name }) => name)).toContain('concurrency');
  for (const { description } of options) expect(description).toMatch(/^\S.{10,}/);
});

test('docs/errors.md has a section for every error code (npm run docs updates it)', () => {
  expect(read('docs/errors.md')).toBe(errorsPage());
  for (const code of Object.keys(errors)) expect(read('docs/errors.md')).toContain(`\n## ${code}\n`);
});

test('the performance page, its charts and the lines in the README are those of the last whole run (npm run docs updates them)', () => {
  const result = JSON.parse(readFileSync(fullResult, 'utf8'));
  expect(read('README.md')).toContain(`\n## How fast\n\n${readmeLines(result)}\n## `);
  expect(read('docs/performance.md')).toBe(performancePage(result));
  for (const [name, svg] of charts(result)) expect(read(`docs/performance/${name}`)).toBe(svg);
});
