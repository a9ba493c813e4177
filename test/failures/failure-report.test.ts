import { expect, test } from 'vitest';
import { SnippetError, type SnippetErrorCode } from '../../src/client/snippet-error.ts';
import { toRequest } from '../../src/client/snippet-request.ts';
import type { FailedSnippet } from '../../src/failures/describe-failures.ts';
import { throwFailures } from '../../src/failures/failure-report.ts';

/** Snippets that fail, each on a page of its own. */
const failures = (count: number, code: SnippetErrorCode = 'not-found'): FailedSnippet[] =>
  Array.from({ length: count }, (_, index) => ({
    request: toRequest(index + 1, undefined),
    places: [`page-${index + 1}.html`],
    placesWithoutChildren: [`page-${index + 1}.html`],
    error: new SnippetError(code, 'is not there.', { snippetId: index + 1, status: 404 }),
  }));

function reportOf(failed: FailedSnippet[], earlier: Record<number, string[]>): string {
  try {
    throwFailures({
      failed,
      notAsked: 0,
      embeds: [],
      settings: {},
      earlierPlaces: (id) => earlier[id] ?? [],
    });
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('Nothing was reported.');
}

const gone = /in the last build/;

test.for([
  [['a.html'], 'It was on 1 page in the last build: if it is gone for good, remove it; if it comes'],
  [['a.html', 'b.html', 'c.html'], 'It was on 3 pages in the last build: if it is gone for good, remove it;'],
  [['a.html', 'feed.xml'], 'It was on 2 places in the last build:'],
  [['texts (collection), entry "banner"'], 'It was on 1 place in the last build:'],
] as const)(
  'a snippet that does not exist, and was in %j, is told from one that never was there',
  ([places, said]) => {
    const report = reportOf(failures(2), { 1: [...places] });
    expect(report).toContain(`\n    ${said}`);
    expect(report).toContain('if it comes and goes, write `optional`.');
    expect(report.split(gone)).toHaveLength(2);
  },
);

test.for<SnippetErrorCode>(['forbidden', 'no-route', 'too-large'])(
  'a snippet that was on the site, and fails with %s, is not called gone',
  (code) => {
    expect(reportOf(failures(1, code), { 1: ['a.html'] })).not.toMatch(gone);
  },
);

test.for([
  [
    12,
    'All of them were on the site in the last build: remove those that are gone for good, and write `optional`',
  ],
  [3, '3 of them were on the site in the last build: remove those that are gone for good'],
  [0, undefined],
] as const)('of 12 snippets that do not exist, %s were on the site', ([before, said]) => {
  const earlier = Object.fromEntries(Array.from({ length: before }, (_, index) => [index + 1, ['a.html']]));
  const report = reportOf(failures(12), earlier);
  if (said) expect(report).toContain(`and 2 more snippets\n    ${said}`);
  else expect(report).not.toMatch(gone);
});
