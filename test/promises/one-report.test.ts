import { expect, test } from 'vitest';
import { SnippetError, type SnippetErrorCode } from '../../src/client/index.ts';
import { createRequest } from '../../src/client/snippet-request.ts';
import {
  childrenWarnings,
  type FailedSnippet,
  staleWarnings,
  throwFailures,
} from '../../src/failures/report.ts';
import { withoutRules } from '../../src/html/rules.ts';
import { fetchAll } from '../../src/snippets/fetch-snippets.ts';
import type { SnippetUse } from '../../src/snippets/file-embeds.ts';

function failing(count: number, errorOf: (id: number) => SnippetError): FailedSnippet[] {
  return Array.from({ length: count }, (_, index) => ({
    request: createRequest(index + 1),
    places: [`page-${index + 1}.html`],
    placesWithoutChildren: [`page-${index + 1}.html`],
    error: errorOf(index + 1),
  }));
}

function usesOf(count: number): SnippetUse[] {
  return Array.from({ length: count }, (_, index) => ({
    request: createRequest(index + 1),
    places: ['index.html'],
    placesWithoutChildren: ['index.html'],
    asHtml: true,
  }));
}

const refused = (id: number) =>
  new SnippetError('network', `connect ECONNREFUSED 127.0.0.1:9 (${(id % 3) + 2} attempts)`);

function reportOf({ failed = [], embeds = [] }: Partial<Parameters<typeof throwFailures>[0]>): string {
  try {
    throwFailures({ failed, notAsked: 0, embeds });
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}

test('10,000 snippets that fail for one reason are one paragraph with ten examples', () => {
  const report = reportOf({ failed: failing(10_000, refused) });
  expect(report).toContain('10000 snippets could not be fetched.');
  expect(report).toContain('10000 snippets: connect ECONNREFUSED 127.0.0.1:9 (3 attempts) [network]\n');
  expect(report.match(/^ {4}Snippet \d+ on page-\d+\.html$/gm)).toHaveLength(10);
  expect(report).toContain('\n    and 9990 more snippets\n');
  expect(report.split('\n').length).toBeLessThan(20);
});

test('snippets that fail for different reasons are listed by reason, and up to ten of each one by one', () => {
  const cut = failing(11, () => new SnippetError('bad-answer', 'the answer is cut off'));
  const report = reportOf({ failed: [...failing(10, refused), ...cut] });
  expect(report.match(/^Snippet \d+: connect ECONNREFUSED .* \[network\]\n {4}on page-/gm)).toHaveLength(10);
  expect(report.match(/^11 snippets: the answer is cut off \[bad-answer\]$/gm)).toHaveLength(1);
});

test('of 10,000 invalid embeds, ten of each kind are listed, in their order', () => {
  const embeds = Array.from({ length: 10_000 }, (_, index) => ({
    file: 'index.html',
    line: index + 1,
    code: index % 2 === 0 ? ('invalid-id' as const) : ('embed-nested' as const),
    message: 'It is invalid.',
  }));
  const report = reportOf({ embeds });
  const lines = [...report.matchAll(/^index\.html:(\d+)$/gm)].map(([, line]) => Number(line));
  expect(lines).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  expect(report).toContain('\n4990 more embeds with the same error. [invalid-id]\n');
  expect(report).toContain('\n4990 more embeds with the same error. [embed-nested]\n');
});

test('10,000 embeds that show their children for one reason are one warning', () => {
  const warnings = childrenWarnings(failing(10_000, refused));
  expect(warnings).toEqual([
    '10000 snippets could not be fetched, among them 1, 2, 3, 4, 5, 6, 7, 8, 9, 10: connect ECONNREFUSED 127.0.0.1:9 (3 attempts). Their children are shown instead on page-1.html, page-2.html, page-3.html and 9997 more places. [network]',
  ]);
  expect(childrenWarnings(failing(2, refused))).toHaveLength(2);
});

test('10,000 snippets shown as they were for one reason are one warning', () => {
  const stale = failing(10_000, refused).map((one, index) => ({ ...one, age: index * 1_000 }));
  const warnings = staleWarnings(stale);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain('Their last good content, the oldest fetched 3 hours ago, is shown instead');
});

/** Fetches snippets 20 at a time from a source that fails with these codes, or answers without one. */
async function fetchWith(count: number, codeOf: (id: number) => SnippetErrorCode | undefined) {
  const asked: number[] = [];
  const uses = usesOf(count);
  let turn = Promise.resolve();
  const results = await fetchAll(uses, async ({ request: { id } }, signal) => {
    if (id > 20) turn = turn.then(() => new Promise((resolve) => setImmediate(resolve)));
    await turn;
    if (signal.aborted) throw new SnippetError('aborted', 'the request was aborted.');
    asked.push(id);
    const code = codeOf(id);
    if (code !== undefined) throw new SnippetError(code, 'no');
    return { content: '', variant: 'render', milliseconds: 1, ...withoutRules('') };
  });
  return { ...results, asked: asked.length };
}

test.for(['no-route', 'certificate', 'redirect', 'invalid-options'] as const)(
  'ten snippets that all fail with "%s" before any has arrived end the run',
  async (code) => {
    const { failed, notAsked, asked } = await fetchWith(1_000, () => code);
    expect(asked).toBeLessThanOrEqual(40);
    expect(failed.length + notAsked).toBe(1_000);
    expect(failed.length).toBeLessThanOrEqual(40);
  },
);

test.for<[string, (id: number) => SnippetErrorCode | undefined]>([
  ['one has arrived', (id) => (id === 3 ? undefined : 'no-route')],
  ['one fails for another reason', (id) => (id === 3 ? 'not-found' : 'no-route')],
  ['the snippets do not exist', () => 'not-found'],
  ['the service is in trouble', () => 'server-error'],
])('snippets that fail do not end the run if %s', async ([, codeOf]) => {
  const { asked, notAsked } = await fetchWith(100, codeOf);
  expect([asked, notAsked]).toEqual([100, 0]);
});
