import type { SiteSize } from './generate-site.ts';
import type { VariantName } from './variants.ts';

/** One site with one latency, and the variants measured on it. */
export interface Cell extends SiteSize {
  name: string;
  /** Of the service, in milliseconds. */
  latency: number;
  variants: VariantName[];
  /** How many times each is run, in turns. */
  runs: number;
}

const all: VariantName[] = ['typed', 'cold', 'warm', 'refresh', 'fetch', 'memo', 'collection', 'eleventy'];
// One request for each embed on each page would take minutes on a large site, and shows the same on a small one.
const large = all.filter((name) => name !== 'fetch' && name !== 'eleventy');

const site = { embeds: 5, distinct: 200, pageSize: 4_000 };

export const fullCells: Cell[] = [
  { name: 'large', ...site, pages: 5_000, latency: 0, variants: large, runs: 5 },
  {
    name: 'large, 100 ms',
    ...site,
    pages: 5_000,
    latency: 100,
    variants: ['typed', 'cold', 'warm', 'collection'],
    runs: 3,
  },
  { name: 'small, 20 ms', ...site, pages: 200, latency: 20, variants: all, runs: 3 },
  { name: 'of 1,000 pages', ...site, pages: 1_000, latency: 0, variants: ['typed', 'cold'], runs: 3 },
  { name: 'of 20,000 pages', ...site, pages: 20_000, latency: 0, variants: ['typed', 'cold'], runs: 2 },
];

export const quickCells: Cell[] = [
  { name: 'middling', ...site, pages: 1_000, latency: 0, variants: large, runs: 2 },
  { name: 'small, 20 ms', ...site, pages: 50, latency: 20, variants: all, runs: 1 },
];
