import { expect, test } from 'vitest';
import { requestsIn } from '../../src/source/literal-requests.ts';

test.for<[source: string, requests: [id: number, params?: string][]]>([
  ['<p><snippet-embed id="7"></snippet-embed><Snippet\n  id={8} /></p>', [[7], [8]]],
  [`<snippet-embed id=7 params='{"plan":"pro"}' optional></snippet-embed>`, [[7, '{"plan":"pro"}']]],
  ['<Snippet id="9" params={{ plan }} />', [[9]]],
  [
    'const price = defineSnippet<{ plan: string }>({ id: 10, params: z.object({ id: z.string() }) });',
    [[10]],
  ],
  ['snippetLoader({ home: { id: 11 }, about: { id: 12 } }); const other = { id: 13 };', [[11], [12]]],
  // Known when the page is rendered, or no embed at all.
  ['<Snippet id={id} /><snippet-embed id="{n}"></snippet-embed><snippet-embedded id="1" />', []],
  [`<snippet-embed id="0"></snippet-embed><snippet-embed id="7" params='{'></snippet-embed>`, []],
])('in %s, these snippets are asked for early', ([source, requests]) => {
  expect(requestsIn(source)).toMatchObject(requests.map(([id, params]) => ({ id, params })));
});
