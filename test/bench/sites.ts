import type { SiteSize } from './generate-site.ts';
import type { VariantName } from './variants.ts';

/** One site with one latency of the service, and the variants measured on it. */
export interface BenchSite extends SiteSize {
  name: string;
  /** Of the service, in milliseconds. */
  latency: number;
  variants: VariantName[];
  /** How many times each variant is run in a round, if more than once. */
  times?: number;
}

const peers: VariantName[] = ['memo', 'collection'];
// One request for each embed on each page would take minutes on a large site, and shows the same on a small one.
const everyone: VariantName[] = [...peers, 'fetch', 'eleventy'];

const common = { embeds: 5, distinct: 200, pageSize: 4_000, kind: 'sections', latency: 0 } as const;

export const fullSites: BenchSite[] = [
  {
    ...common,
    name: 'large',
    pages: 5_000,
    variants: ['typed', 'floor', 'cold', 'warm', 'refresh', ...peers],
  },
  {
    ...common,
    name: 'large-far',
    pages: 5_000,
    latency: 100,
    variants: ['typed', 'floor', 'cold', 'warm', ...peers],
  },
  {
    ...common,
    name: 'articles',
    kind: 'articles',
    pages: 5_000,
    variants: ['typed', 'floor', 'cold', 'warm', 'memo', 'eleventy'],
  },
  { ...common, name: 'markdown', kind: 'markdown', pages: 5_000, variants: ['typed', 'cold', 'warm'] },
  { ...common, name: 'small', pages: 200, latency: 20, variants: ['typed', 'floor', 'cold', ...everyone] },
  { ...common, name: 'small-far', pages: 200, latency: 100, variants: ['typed', 'floor', 'cold', ...peers] },
  { ...common, name: 'plain', pages: 200, embeds: 0, variants: ['without', 'empty', 'unused'], times: 5 },
  { ...common, name: 'pass', pages: 100_000, distinct: 10_000, variants: ['pass'] },
];

/**
 * The same with fewer pages, and without the floors: enough to see that everything still works, and what changed by a lot.
 */
export const quickSites: BenchSite[] = fullSites.map((site) => ({
  ...site,
  pages: Math.max(50, site.pages / 10),
  distinct: Math.min(site.distinct, 1_000),
  variants: site.variants.filter((name) => name !== 'floor' && name !== 'empty'),
}));
