import { rm } from 'node:fs/promises';
import { join } from 'node:path';

/** One row of the table: how a site gets its snippets, and the state in which it is built. */
export interface Variant {
  name: string;
  /** How the site gets its snippets. */
  approach: 'typed' | 'ours' | 'fetch' | 'memo' | 'collection' | 'eleventy';
  /** What is on the disk at the start: nothing, or the output of an earlier run. */
  starts: 'cold' | 'built';
  command: 'build' | 'refresh';
}

export const variants = {
  typed: { name: 'typed in', approach: 'typed', starts: 'cold', command: 'build' },
  cold: { name: 'astro-snippets, cold', approach: 'ours', starts: 'cold', command: 'build' },
  warm: {
    name: 'astro-snippets, with the last manifest',
    approach: 'ours',
    starts: 'built',
    command: 'build',
  },
  refresh: { name: 'astro-snippets refresh', approach: 'ours', starts: 'built', command: 'refresh' },
  fetch: { name: 'await fetch in the component', approach: 'fetch', starts: 'cold', command: 'build' },
  memo: { name: 'await fetch with a memo', approach: 'memo', starts: 'cold', command: 'build' },
  collection: {
    name: 'a collection of all snippets',
    approach: 'collection',
    starts: 'cold',
    command: 'build',
  },
  eleventy: { name: '@11ty/eleventy-fetch', approach: 'eleventy', starts: 'cold', command: 'build' },
} as const satisfies Record<string, Variant>;

export type VariantName = keyof typeof variants;

/** Removes what earlier runs have left: the output, and for a cold start the caches. */
export async function prepare(folder: string, { starts, command }: Variant): Promise<void> {
  const left =
    command === 'refresh' ? [] : starts === 'cold' ? ['dist', 'node_modules/.astro', '.cache'] : ['dist'];
  for (const name of left) await rm(join(folder, name), { recursive: true, force: true });
}
