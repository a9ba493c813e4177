import { expect, test } from 'vitest';
import { embedsIn, literalRequest } from '../../src/source/source-embeds.ts';
import { fileOf, relativeSource } from '../../src/source/source-file.ts';

test.for<[source: string, requests: [id: number, params?: string][]]>([
  ['<p><snippet-embed id="7"></snippet-embed><Snippet\n  id={8} /></p>', [[7], [8]]],
  [`<snippet-embed id=7 params='{"plan":"pro"}' optional></snippet-embed>`, [[7, '{"plan":"pro"}']]],
  ['<Snippet id="9" params={{ plan }} />', [[9]]],
  [
    'const price = defineSnippet<{ plan: string }>({ id: 10, params: z.object({ id: z.string() }) });',
    [[10]],
  ],
  ['snippetLoader({ home: { id: 11 }, about: { id: 12 } }); const other = { id: 13 };', [[11], [12]]],
  // Not known before the page is rendered, or not an embed.
  ['<Snippet id={id} /><snippet-embed id="{n}"></snippet-embed><snippet-embedded id="1" />', []],
  [`<snippet-embed id="0"></snippet-embed><snippet-embed id="7" params='{'></snippet-embed>`, []],
])('in %s, these snippets are requested early', ([source, requests]) => {
  const found = embedsIn('page.astro', source).flatMap((embed) => literalRequest(embed) ?? []);
  expect(found).toMatchObject(requests.map(([id, params]) => ({ id, params })));
});

test.for<[source: string, file: string, found: string[]]>([
  // Computed ids, and no id.
  ['<Snippet {id} /><Snippet {...props} /><Snippet of={a} /><snippet-embed>', 'a.astro', ['?', '?', '?', '']],
  ['<Snippet params={{ a: () => 1 }} id={2} />', 'a.astro', ['2']],
  ["import { Snippet as S } from 'astro-snippets/components';\n<S id={1} />", 'a.mdx', ['1']],
  [`'<snippet-embed id="' + id + '">'; '<snippet-embed :id="id">'`, 'a.ts', ['?', '?']],
  [String.raw`{ "a": "<snippet-embed id=\"1\">" }`, 'a.json', ['1']],
  [
    '---\ntitle: <snippet-embed id="1">\n---\n`<snippet-embed id="2">`\n\n```\n<Snippet id={3} />\n```',
    'a.md',
    ['1'],
  ],
  ['{/* <Snippet id={1} /> */}\n<!-- <Snippet id={2} /> --><Snippet id={3} />', 'a.mdx', ['3']],
  [
    "// <Snippet id={1} />\n/* <Snippet id={2} /> */\nglob('../*.md'); <Snippet id={3} /> /**/",
    'a.astro',
    ['3'],
  ],
  // A component in <code> is rendered.
  ['<code><snippet-embed id="1"><Snippet id={2} /></code>', 'a.astro', ['2']],
])('%s in %s contains these ids', ([source, file, found]) => {
  expect(embedsIn(file, source).map(({ id }) => id ?? '?')).toEqual(found);
});

test.for<[id: string, root: string]>([
  ['C:\\site\\src\\pages\\index.astro', 'C:\\site\\'],
  ['C:/site/src/pages/index.astro?astro&type=script&index=0', 'C:\\site'],
  ['/site/src/pages/index.astro', '/site/'],
])('the file of %s gets forward slashes and its path in the project', ([id, root]) => {
  expect(fileOf(id)).toMatch(/^(?:C:)?\/site\/src\/pages\/index\.astro$/);
  expect(relativeSource(id, root)).toBe('src/pages/index.astro');
});
