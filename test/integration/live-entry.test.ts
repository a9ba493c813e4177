import type { AstroConfig } from 'astro';
import { expect, test } from 'vitest';
import { liveEntry } from '../../src/integration/live-entry.ts';

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
