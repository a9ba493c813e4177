import { expect, test } from 'vitest';
import { defaultLimits, publicLimits } from '../../src/client/limits.ts';
import { readPage } from './pages.ts';

// The pages about limits are written by hand.

const { attempts, mostAttempts, outageCap } = defaultLimits;
const times = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'][attempts];
const textOf = (page: string) => readPage(page).replace(/\s+/g, ' ');

test.each([
  ['docs/client.md', `up to ${mostAttempts} where many fail`],
  ['docs/errors.md', `at least ${times} times in all`],
  ['docs/errors.md', `depends on the others: ${times} times`],
  ['docs/errors.md', `never more than ${mostAttempts} times`],
  ['docs/errors.md', `at most ${outageCap / 1000} seconds apart`],
  ['docs/limits.md', `- all requests for one snippet: ${mostAttempts};`],
])('%s says "%s"', (page, words) => {
  expect(textOf(page)).toContain(words);
});

test.each(publicLimits)('docs/client.md has the default of `%s`', (name) => {
  const value = defaultLimits[name].toLocaleString('en-US');
  expect(textOf('docs/client.md')).toMatch(new RegExp(`\\| \`${name}\` \\|[^|]+\\| ${value} \\|`));
});
