import { pathToFileURL } from 'node:url';
import type { AstroConfig } from 'astro';
import { expect, test } from 'vitest';
import { liveEntry, refuseIgnoredCollections } from '../../src/integration/live-entry.ts';
import { folderWith } from '../support/site/folder.ts';

test.for<[what: string, major: number, experimental: object, isRefused: boolean]>([
  ['Astro 5', 5, {}, true],
  ['Astro 5 with its flag for live collections', 5, { liveContentCollections: true }, false],
  ['Astro 6', 6, {}, false],
  ['Astro 7', 7, {}, false],
])('astro-snippets/live with %s', ([, major, experimental, isRefused]) => {
  const { resolveId } = liveEntry({ experimental } as AstroConfig, major);
  const { filter, handler } = resolveId as {
    filter: { id: RegExp };
    handler(id: string, from: string): void;
  };
  expect(filter.id.test('astro-snippets/live')).toBe(true);
  expect(filter.id.test('astro-snippets/loader')).toBe(false);
  const resolve = () => handler('astro-snippets/live', '/site/src/live.config.ts');
  if (!isRefused) return expect(resolve()).toBeUndefined();
  expect(resolve).toThrow(
    expect.objectContaining({
      code: 'unsupported-astro',
      message: expect.stringContaining('/site/src/live.config.ts imports astro-snippets/live'),
    }),
  );
});

const live = `import { liveSnippetLoader } from 'astro-snippets/live';`;

test.for<
  [what: string, files: Record<string, string>, major: number, experimental: object, isRefused: boolean]
>([
  ['Astro 5', { 'live.config.ts': live }, 5, {}, true],
  ['Astro 5 and a config in JavaScript', { 'live.config.mjs': live }, 5, {}, true],
  ['Astro 5 with its flag', { 'live.config.ts': live }, 5, { liveContentCollections: true }, false],
  ["Astro 5 and another package's loader", { 'live.config.ts': 'export {};' }, 5, {}, false],
  ['Astro 5 and no live collections', { 'content.config.ts': live }, 5, {}, false],
  ['Astro 6', { 'live.config.ts': live }, 6, {}, false],
])('live collections with %s', async ([, files, major, experimental, isRefused]) => {
  const { directory } = await folderWith(files);
  const config = { srcDir: pathToFileURL(`${directory}/`), experimental } as unknown as AstroConfig;
  const check = () => refuseIgnoredCollections(config, major);
  if (!isRefused) return expect(check()).toBeUndefined();
  expect(check).toThrow(expect.objectContaining({ code: 'unsupported-astro' }));
});
