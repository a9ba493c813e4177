import { join } from 'node:path';
import type { IntegrationResolvedRoute } from 'astro';
import { expect, test } from 'vitest';
import { SiteSource } from '../../src/source/site-source.ts';
import { SourceSearch } from '../../src/source/source-search.ts';
import { folderWith } from '../support/site/folder.ts';

const embed = (id: string) => `<snippet-embed id="${id}"></snippet-embed>`;

/** @param imports by source file. */
async function search(files: Record<string, string>, imports?: Record<string, string[]>) {
  const { directory } = await folderWith({ ...files, 'shared/Far.astro': `\n${embed('5')}` });
  const root = join(directory, 'site');
  const source = new SiteSource(
    { root, srcDir: join(root, 'src'), publicDir: join(root, 'public'), outDir: join(root, 'dist') },
    '/docs',
    Object.keys(imports ?? {}).map(
      (entrypoint) =>
        ({
          entrypoint,
          patternRegex: new RegExp(`^/${/(\w+)\.\w+$/.exec(entrypoint)?.[1]}/?$`),
        }) as IntegrationResolvedRoute,
    ),
  );
  source.loaded.add(join(directory, 'shared/Far.astro'));
  if (imports) {
    source.modules = {
      importsOf: (id) =>
        (imports[id.slice(root.length + 1)] ?? []).map((name) =>
          name.includes(':') ? name : join(root, name),
        ),
    };
  }
  return new SourceSearch(source);
}

test('a snippet is written in all places with its id, otherwise in one of those that compute an id', async () => {
  const literal = Array.from({ length: 5 }, (_, index) => [`site/src/${index}.md`, `\n${embed('1')}`]);
  const some = await search({
    ...Object.fromEntries(literal),
    'site/content/post.md': embed('2'),
    'site/src/a.astro': `${embed('3')}\n<Snippet {id} />`,
    'site/src/b.jsx': '<snippet-embed id={id} />',
    'site/src/snippets.ts': 'export const price = defineSnippet({\n  id: 4,\n});',
    ...Object.fromEntries(
      ['dist', 'public', 'node_modules/a', '.cache'].map((folder) => [`site/${folder}/a.md`, embed('2')]),
    ),
  });
  expect(some.whereWritten({ id: '1' })).toBe(
    'written in src/0.md:2, src/1.md:2, src/2.md:2 and 2 more places',
  );
  expect(some.whereWritten({ id: '2' })).toBe('written in content/post.md:1');
  expect(some.whereWritten({ id: '4' })).toBe('written in src/snippets.ts:2');
  expect(some.whereWritten({ id: '5' })).toBe('written in ../shared/Far.astro:2');
  expect(some.whereWritten({ id: '6' })).toBe('written in src/a.astro:2 or src/b.jsx:1, id computed');
  const one = await search({ 'site/src/a.astro': '<Snippet {id} />' });
  expect(one.whereWritten({ id: '6' })).toBe('written in src/a.astro:1 or elsewhere, id computed');
  expect((await search({})).whereWritten({ id: '6' })).toBe('');
});

test('an embed is written in one place among the modules of its page, if that is certain', async () => {
  const files = {
    'site/src/pages/own.astro': embed('1'),
    'site/src/pages/list.astro': '<Snippet {id} />',
    'site/src/Card.astro': `\n${embed('1')}`,
    'site/src/posts/a.md': embed('1'),
    'site/src/posts/list.md': embed('1'),
  };
  const imports = {
    'src/pages/own.astro': ['src/Layout.astro'],
    'src/pages/list.astro': ['src/Card.astro', 'virtual:astro:content'],
  };
  const placesIn = async (known: typeof imports | undefined) => {
    const some = await search(files, known);
    return ['own/index.html', '/docs/list', 'other.xml'].map((file) => some.whereWritten({ file, id: '1' }));
  };
  const anywhere = expect.stringMatching(/^written in .+, .+, .+ or 2 more places, id computed$/);
  expect(await placesIn(imports)).toEqual([
    'written in src/pages/own.astro:1',
    'written in src/posts/list.md:1, src/Card.astro:2, src/posts/a.md:1 or 1 more place, id computed',
    anywhere,
  ]);
  expect(await placesIn(undefined)).toEqual([anywhere, anywhere, anywhere]);
});

test('an editor opens the places of a page that write an embed, or else those that compute its id', async () => {
  const some = await search(
    {
      'site/src/pages/own.astro': `<p>\n  ${embed('1')}${embed('1')}\n</p>\n<Snippet {id} />`,
      'site/src/pages/list.astro': Array.from({ length: 9 }, () => embed('1')).join('\n'),
      'site/src/Card.astro': `\n${embed('1')}`,
    },
    { 'src/pages/own.astro': ['src/Card.astro'], 'src/pages/list.astro': ['src/Other.astro'] },
  );
  const { root } = some.source.folders;
  expect(some.positionsOf(1, '/docs/own/')).toEqual([
    { place: 'src/pages/own.astro:2', position: `${root}/src/pages/own.astro:2:3` },
    { place: 'src/Card.astro:2', position: `${root}/src/Card.astro:2:1` },
  ]);
  expect(some.positionsOf(2, '/docs/own/').map(({ place }) => place)).toEqual(['src/pages/own.astro:4']);
  expect(some.positionsOf(1, '/docs/list/')).toHaveLength(5);
  expect(some.positionsOf(2, '/docs/list/')).toEqual([]);
});
