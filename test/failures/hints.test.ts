import { expect, test } from 'vitest';
import { type ErrorCode, errorTable } from '../../src/failures/error-table.ts';
import { type AdvisedSettings, hintOf } from '../../src/failures/hints.ts';

const urls = { renderBaseUrl: 'https://x.test/b', retrieveBaseUrl: 'https://x.test/a' };
const { retrieveBaseUrl } = urls;

type Situation = [settings: AdvisedSettings, environment?: Record<string, string>];

/** What a hint advises, and situations in which that is done or not. */
const advice: [code: ErrorCode, advised: RegExp, isNotDone: Situation[], isDone: Situation[]][] = [
  [
    'certificate',
    /\bset SNIPPETS_CA_FILE/,
    // NODE_EXTRA_CA_CERTS may be that of a company, which other tools need.
    [[urls], [urls, { NODE_EXTRA_CA_CERTS: '/company.pem' }]],
    [[{ ...urls, ca: 'PEM' }], [{ ...urls, ca: ['PEM'] }]],
  ],
  [
    'network',
    /\bset HTTPS_PROXY/,
    [[urls], [urls, { HTTP_PROXY: 'http://x' }], [urls, { HTTPS_PROXY: '' }]],
    [
      [urls, { HTTPS_PROXY: 'http://x' }],
      [urls, { https_proxy: 'x:3128' }],
    ],
  ],
  ['forbidden', /\bset SNIPPETS_RETRIEVE_BASE_URL alone/, [[urls]], [[{ retrieveBaseUrl }]]],
  ['no-content', /\bSet SNIPPETS_RENDER_BASE_URL/, [[{ retrieveBaseUrl }]], [[urls]]],
  [
    'rate-limited',
    /\bset a lower `concurrency`/,
    [[urls], [{ concurrency: 2 }]],
    [[{ ...urls, concurrency: 1 }]],
  ],
  ['script-refused', /\bset scripts: 'strip'/, [[{ scripts: 'error' }]], [[{ scripts: 'strip' }]]],
];

test.for(advice)('the hint of %s advises only what is not done', ([code, advised, isNotDone, isDone]) => {
  for (const [settings, environment = {}] of isNotDone) {
    expect(hintOf(code, settings, environment)).toMatch(advised);
  }
  for (const [settings, environment = {}] of isDone) {
    expect(hintOf(code, settings, environment)).not.toMatch(advised);
    expect(hintOf(code, settings, environment)).toMatch(/\.$/);
  }
});

/** Codes whose advice to set something cannot be followed already: their errors say what is missing or wrong. */
const alwaysToDo = [
  'exposed-key',
  'missing-key',
  'missing-url',
  'redirect',
  'unreadable-key-file',
  'unsupported-astro',
  'webhook-secret',
];

test('every hint that advises to set something is judged', () => {
  const advising = Object.entries(errorTable).flatMap(([code, { hint }]) =>
    /\bset (?!up\b)/i.test(hint) ? code : [],
  );
  expect(advising.sort()).toEqual([...advice.map(([code]) => code as string), ...alwaysToDo].sort());
});
