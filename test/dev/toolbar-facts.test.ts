import { expect, test } from 'vitest';
import { SnippetError } from '../../src/client/snippet-error.ts';
import { parseRequest } from '../../src/client/snippet-request.ts';
import { devFacts, linkOf, type ShownUse } from '../../src/dev/toolbar-facts.ts';
import { panelSnippets } from '../../src/inlining/edit-links/edit-links.ts';
import type { FetchedSnippet } from '../../src/snippets/snippet-fetcher.ts';
import { SnippetNames } from '../../src/snippets/snippet-names.ts';
import { protectKey } from '../../src/text/known-keys.ts';

const apiKey = 'sk_test_fedcba9876543210';
protectKey(apiKey);

/** A page that shows a snippet with each of these params. */
function page(...params: string[]): ShownUse[] {
  const content = { content: 'text', variant: 'retrieve', milliseconds: 1.6 } as FetchedSnippet;
  return params.map((written) => {
    const request = parseRequest('42', written);
    const use = { request, places: ['/'], placesWithoutChildren: [], asHtml: true };
    return { ...use, snippet: { request, asHtml: true, content, dueAt: 0 } };
  });
}

const fail = (reason: unknown) => {
  throw reason;
};

test.for<[what: string, editUrl: () => unknown, reason: string]>([
  ['throws', () => JSON.parse('{').url, 'failed for snippet 42: Expected property name'],
  ['throws no error', () => fail(null), 'failed for snippet 42: null'],
  [
    'returns a promise that rejects',
    async () => fail(null),
    'returned a value of type object for snippet 42',
  ],
  ['returns a BigInt', () => 42n, 'returned a value of type bigint for snippet 42'],
  ['returns no URL', () => 'https://', 'returned "https://" for snippet 42'],
])(
  'if editUrl %s, the snippet has no link, and a warning names the option and the snippet',
  ([, editUrl, reason]) => {
    const warnings: string[] = [];
    const warn = (line: string) => void warnings.push(line);
    expect(linkOf(42, editUrl as () => string, warn)).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining(`The function editUrl ${reason}`)]);
  },
);

test('each params of a snippet are a line of its entry, and no line has the API key', () => {
  const shown = page('{"a":1}', '{"a":"it\'s"}');
  const names = new SnippetNames();
  names.note(42, `The key ${apiKey}`);
  const nameOf = (id: number) => names.of(id);
  const sources = [{ place: 'src/a.astro:2', position: '/site/src/a.astro:2:1' }];
  const search = { positionsOf: (id: number, of: string) => (id === 42 && of === '/page/' ? sources : []) };
  const facts = devFacts(search, '/page/', {});
  const snippets = panelSnippets(shown, nameOf, (id) => linkOf(id, undefined, fail), facts);
  const entry = snippets[42];
  expect(Object.keys(snippets)).toEqual(['42']);
  expect(entry?.name).toBe('The key [API key]');
  expect(entry?.sources).toEqual(sources);
  expect(entry?.uses?.map(({ facts, attributes }) => [facts, attributes])).toEqual([
    ['{"a":1} · retrieve · 2 ms · 4 bytes', ` params='{"a":1}'`],
    [`{"a":"it's"} · retrieve · 2 ms · 4 bytes`, ` params='{"a":"it&#39;s"}'`],
  ]);
});

test.for([
  ['not-found', {}, /^Check the id: the snippet does not exist/],
  ['forbidden', {}, /^Use a secret key: a public one has limited privileges\.$/],
  ['unavailable', { renderBaseUrl: 'https://x.test' }, /^Try again later, or give the embed children/],
] as const)('the entry of a snippet that fails with %s says what to do', ([code, settings, hint]) => {
  const failed = page('{}').map((use) => {
    const error = new SnippetError(code, 'it fails.', { snippetId: 42 });
    return { ...use, snippet: { ...use.snippet, content: undefined, error } };
  });
  const facts = devFacts({ positionsOf: () => [] }, '/', settings);
  const [use] =
    panelSnippets(
      failed,
      () => undefined,
      () => undefined,
      facts,
    )[42]?.uses ?? [];
  expect(use?.error).toBe('Snippet 42: it fails.');
  expect(use?.hint).toMatch(hint);
});
