import { expect, test } from 'vitest';
import { protectKey } from '../../src/client/api-key.ts';
import { parseRequest } from '../../src/client/snippet-request.ts';
import { editUrls, panelSnippets } from '../../src/dev/panel-data.ts';
import type { Shown } from '../../src/dev/served-pages.ts';
import type { FetchedSnippet } from '../../src/snippets/fetch-snippets.ts';

const apiKey = 'sk_test_fedcba9876543210';
protectKey(apiKey);

/** A page that shows a snippet with each of these params. */
function page(name: string, ...params: string[]): Shown {
  const content = { content: 'text', variant: 'retrieve', name } as FetchedSnippet;
  return new Map(
    params.map((written) => {
      const request = parseRequest('42', written);
      const snippet = { request, asHtml: true, content, milliseconds: 1.6, dueAt: 0, failures: 0 };
      return [request.key, { snippet, hasChildren: false, isOptional: false }];
    }),
  );
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
  'if editUrl %s, the snippet has no link, and one warning names the option and the snippet',
  ([, editUrl, reason]) => {
    const warnings: string[] = [];
    const editUrlOf = editUrls(
      () => ({ editUrl: editUrl as () => string }),
      (line) => void warnings.push(line),
    );
    for (let views = 0; views < 2; views += 1) {
      expect(panelSnippets(page('Price', '{}'), editUrlOf)[42]?.url).toBeUndefined();
    }
    expect(warnings).toEqual([expect.stringContaining(`The function editUrl ${reason}`)]);
  },
);

test.for(['/edit/42', 'https://cms.example/42', 'vscode://file/42'])(
  'if editUrl returns %s, that is the link',
  (url) => {
    const editUrlOf = editUrls(() => ({ editUrl: () => url }), fail);
    expect(panelSnippets(page('Price', '{}'), editUrlOf)[42]).toMatchObject({ url, name: 'Price' });
  },
);

test('a snippet with other params is another line of its entry, and the API key is in none', () => {
  const snippets = panelSnippets(page(`The key ${apiKey}`, '{"a":1}', '{"a":2}'), () => undefined);
  const entry = snippets[42];
  expect(Object.keys(snippets)).toEqual(['42']);
  expect(entry?.name).toBe('The key [API key]');
  expect(entry?.uses?.map(({ facts, params }) => [facts, params])).toEqual([
    ['{"a":1} · retrieve · 2 ms · 4 bytes', '{"a":1}'],
    ['{"a":2} · retrieve · 2 ms · 4 bytes', '{"a":2}'],
  ]);
});
