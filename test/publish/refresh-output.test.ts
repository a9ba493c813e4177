import { expect, test } from 'vitest';
import type { RefreshOptions, RefreshResult } from '../../src/cli/refresh.ts';
import { reportRefresh } from '../../src/cli/refresh-output.ts';
import { testContext } from '../support/cli.ts';

function nextStepOf(result: RefreshResult, options: RefreshOptions = {}): string | undefined {
  const { context, stdout } = testContext('/site');
  reportRefresh(context.terminal, result, { ...options, json: true });
  return JSON.parse(stdout()).nextStep;
}

const changed = { name: 'b.html', reason: 'was changed while it was refreshed' };
const othersWritten = 'The other pages are written. Build the site to update the rest.';

test.for<[string, RefreshResult, RefreshOptions, string | undefined]>([
  ['all is written', { written: ['a.html'], toBuild: [] }, {}, undefined],
  [
    'nothing is written',
    { written: [], toBuild: [changed] },
    {},
    'Nothing was written. Build the site, or update the other pages with --skip-modified.',
  ],
  [
    'a page is changed while the others are written',
    { written: ['a.html'], toBuild: [changed] },
    {},
    othersWritten,
  ],
  [
    'a page is changed while the others are written, and the command of --after has succeeded',
    { written: ['a.html'], toBuild: [changed], afterStatus: 0 },
    { after: 'renew' },
    othersWritten,
  ],
  [
    'a dry run names pages that need a build',
    { written: ['a.html'], toBuild: [changed] },
    { dryRun: true },
    'Nothing would be written. Build the site, or update the other pages with --skip-modified.',
  ],
  [
    'pages are skipped',
    { written: ['a.html'], toBuild: [changed] },
    { skipModified: true },
    'Build the site to update these pages too.',
  ],
])('the next step of a refresh is true when %s', ([, result, options, expected]) => {
  expect(nextStepOf(result, options)).toBe(expected);
});
