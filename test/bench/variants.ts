import { rm } from 'node:fs/promises';
import { join } from 'node:path';

/** A way to get snippets into a site, and the state in which it is built. */
export interface Variant {
  name: string;
  approach: string;
  /**
   * The state of the disk at the start: nothing, the output of an earlier run, or pages as Astro generated
   * them.
   */
  starts: 'cold' | 'built' | 'generated';
  command: 'build' | 'refresh' | 'pass';
}

const built = { starts: 'cold', command: 'build' } as const;

export const variants = {
  typed: { ...built, name: 'typed in', approach: 'typed' },
  cold: { ...built, name: 'astro-snippets, cold', approach: 'ours' },
  warm: { ...built, name: 'astro-snippets, built before', approach: 'ours', starts: 'built' },
  refresh: { name: 'astro-snippets refresh', approach: 'ours', starts: 'built', command: 'refresh' },
  floor: { ...built, name: 'fetch, read, replace, write', approach: 'floor' },
  memo: { ...built, name: 'await fetch with a memo', approach: 'memo' },
  eleventy: { ...built, name: '@11ty/eleventy-fetch', approach: 'eleventy' },
  eleventyWarm: {
    ...built,
    name: '@11ty/eleventy-fetch, built before',
    approach: 'eleventy',
    starts: 'built',
  },
  without: { ...built, name: 'without the integration', approach: 'plain' },
  unused: { ...built, name: 'with the integration, no embeds', approach: 'unused' },
  pass: { name: 'the pass alone', approach: 'pages', starts: 'generated', command: 'pass' },
} as const satisfies Record<string, Variant>;

export type VariantName = keyof typeof variants;

/** Removes what earlier runs left: the output, and for a cold start the caches. */
export async function prepare(folder: string, { starts, command }: Variant): Promise<void> {
  if (command !== 'build') return;
  const left = starts === 'cold' ? ['dist', 'node_modules/.astro', '.cache'] : ['dist'];
  for (const name of left) await rm(join(folder, name), { recursive: true, force: true });
}
