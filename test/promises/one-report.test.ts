import { expect, test } from 'vitest';
import { SnippetError } from '../../src/client/index.ts';
import { createRequest } from '../../src/client/snippet-request.ts';
import type { FailedSnippet } from '../../src/failures/describe-failures.ts';
import { SiteError } from '../../src/failures/errors.ts';
import { throwFailures } from '../../src/failures/failure-report.ts';
import { failureWarnings, staleWarnings } from '../../src/failures/failure-warnings.ts';
import { trustedServer } from '../support/http/wire.ts';
import { sharedService } from '../support/site/built-site.ts';
import { folderWith } from '../support/site/folder.ts';
import { cli } from '../support/tools/cli.ts';
import { exits } from '../support/tools/exits.ts';

const service = await sharedService({});

/** Inlines a page with this many embeds of different snippets. */
async function inline(count: number, environment = {}, more = '') {
  const embeds = Array.from(
    { length: count },
    (_, index) => `<snippet-embed id="${index + 1}"></snippet-embed>`,
  );
  const folder = await folderWith({ 'public/index.html': `${more}<div>${embeds.join('')}</div>` });
  return cli(folder.directory, ['inline', 'public'], { ...service.environment, ...environment });
}

test('snippets that fail for the same reason are one paragraph, embeds are listed by error, and ten of each are shown', async () => {
  const nested = '<snippet-embed id="1"><snippet-embed id="2"></snippet-embed></snippet-embed>';
  const invalid = `<snippet-embed id="x"></snippet-embed>\n${nested}\n`.repeat(25);
  const output = await exits(1, inline(100, {}, invalid));
  expect(output).toContain('100 snippets could not be fetched, and 50 embeds are invalid.');
  expect(output).toContain('\n100 snippets: 404 Not Found [not-found]\n');
  expect(output.match(/^ {4}Snippet \d+ on index\.html$/gm)).toHaveLength(10);
  expect(output).toContain('\n    and 90 more snippets\n');
  const lines = Array.from(output.matchAll(/^index\.html:(\d+)$/gm), ([, line]) => Number(line));
  expect(lines).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  expect(output).toContain('\n15 more embeds with the same error. [invalid-id]\n');
  expect(output).toContain('\n15 more embeds with the same error. [embed-nested]\n');
});

test.for([
  ['ends the run', 0, 40],
  ['does not end it if one has arrived', 1, 100],
] as const)('a missing route %s', async ([, arriving, most]) => {
  let asked = 0;
  const origin = await trustedServer((_request, response) => {
    asked += 1;
    const isThere = asked <= arriving;
    response.writeHead(isThere ? 200 : 404, { 'content-type': isThere ? 'application/json' : 'text/html' });
    response.end(isThere ? '{"content":"here"}' : 'no such page');
  });
  const environment = { SNIPPETS_RENDER_BASE_URL: origin, SNIPPETS_RETRIEVE_BASE_URL: '' };
  const output = await exits(1, inline(100, environment));
  expect(output).toContain('[no-route]');
  expect(asked).toBeLessThanOrEqual(most);
  expect(output.includes('more snippets would fail the same way.')).toBe(arriving === 0);
});

const failed = (count: number): FailedSnippet[] =>
  Array.from({ length: count }, (_, index) => ({
    request: createRequest(index + 1),
    places: [`page-${index + 1}.html`],
    placesWithoutChildren: [`page-${index + 1}.html`],
    error: new SnippetError('network', `connect ECONNREFUSED 127.0.0.1:9 (${(index % 3) + 3} attempts)`),
  }));

test('10,000 embeds that show children or old content for the same reason are one warning', () => {
  const examples = failed(10).map(
    ({ request: { id }, error }) => `    Snippet ${id} on page-${id}.html: ${error.message}\n`,
  );
  expect(failureWarnings(failed(10_000))).toEqual([
    `10000 snippets: The service could not be reached [network]\n${examples.join('')}    and 9990 more snippets\nTheir children are shown instead.`,
  ]);
  expect(failureWarnings(failed(2))).toHaveLength(2);
  const stale = failed(10_000).map(({ request, error }, index) => {
    const fetchedAt = Date.now() - index * 1_000;
    return [request.key, { error, fetchedAt, flaws: [] }] as const;
  });
  expect(staleWarnings(new Map(stale), failed(10_000))).toEqual([
    expect.stringContaining('Their last good content, the oldest fetched 3 hours ago, is shown instead'),
  ]);
});

test('the headline counts every snippet that is not shown; groups go by code, status and title, and examples have their reasons', () => {
  const problem = { title: 'Not Found', detail: 'There is no such snippet.', type: 'about:blank' };
  const kinds = [
    new SnippetError('not-found', 'not found', { status: 404, problem }),
    new SnippetError('unauthorized', 'unauthorized', { status: 401 }),
    new SiteError('left-open', 'is refused.', 1),
    new SiteError('not-cached', 'is not in the cache.', 1),
  ];
  const all = failed(60).map((one, index) => ({ ...one, error: kinds[index % 5] ?? one.error }));
  const embeds = [{ file: 'a.html', code: 'invalid-as' as const, message: 'Wrong.' }];
  const report = () => throwFailures({ failed: all, notAsked: 30, embeds, settings: {} });
  for (const said of [
    '78 snippets could not be fetched, and 12 snippets must not be shown, and 1 embed is invalid.\n',
    // One of the twelve that would end any run is listed, but not the others or those that were not requested.
    '\n41 more snippets would fail the same way.\n',
    '\nSnippet 2: unauthorized [unauthorized]\n',
    '\n12 snippets: 404 Not Found [not-found]\n    There is no such snippet.\n    about:blank\n    Snippet 1 on page-1.html\n',
    '\n12 snippets: The service could not be reached [network]\n    Snippet 5 on page-5.html: connect ECONNREFUSED 127.0.0.1:9 (4 attempts)\n    Snippet 10 on page-10.html: connect ECONNREFUSED 127.0.0.1:9 (3 attempts)\n',
  ]) {
    expect(report).toThrow(said);
  }
});
