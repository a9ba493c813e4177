import type { SiteSize } from './generate-site.ts';
import type { Usage } from './measure.ts';
import type { VariantName } from './variants.ts';

/** A site with one latency of the service, and the variants measured on it. */
export interface BenchSite extends SiteSize {
  name: string;
  /** The latency of the service, in milliseconds. */
  latency: number;
  variants: VariantName[];
  /** How many times each variant runs per round, if more than once. */
  times?: number;
  /** The most that a variant should take, compared with the same site without it. */
  aims?: Partial<Record<VariantName, Partial<Usage>>>;
  /** Whether aims and results are differences instead of ratios. */
  isAdded?: true;
  /** The size that grows from one site to the next, if growth is measured. */
  grows?: keyof typeof growing;
}

const common = {
  embeds: 5,
  distinct: 200,
  pageSize: 4_000,
  contentSize: 200,
  kind: 'sections',
  latency: 0,
} as const;

/** Sites that grow in one way each. The number of embeds stays the same, unless it is what grows. */
const growing = {
  // A single page takes little more than the start of the process.
  nothing: [{ pages: 1 }],
  pages: [1_000, 10_000, 100_000].map((pages) => ({ pages })),
  snippets: [10, 1_000, 50_000].map((distinct) => ({ distinct })),
  embeds: [5, 100, 1_000].map((embeds) => ({ embeds, pages: 50_000 / embeds })),
  content: [
    { contentSize: 100, pages: 2_000, distinct: 10 },
    { contentSize: 10_000, pages: 2_000, distinct: 10 },
    // These pages have 5 MB each.
    { contentSize: 1_000_000, pages: 20, distinct: 10 },
  ],
  everything: [{ pages: 100_000, distinct: 50_000 }],
};

const cold = { wall: 1.12, cpu: 1.16, memory: 1.06 };
const large = { ...common, pages: 5_000, aims: { cold, warm: { wall: 1.1 } } };
const near = { cold: { ...cold, memory: 1.03 } };
const far = { cold: { wall: 1.11 }, warm: { wall: 1.08 } };
const small = { ...common, pages: 200, variants: ['typed', 'cold'] as VariantName[] };

export const fullSites: BenchSite[] = [
  { ...large, name: 'large', variants: ['typed', 'cold'], aims: near },
  { ...large, name: 'large-far', latency: 100, variants: ['typed', 'cold', 'warm'], aims: far },
  {
    ...large,
    name: 'articles',
    kind: 'articles',
    variants: ['typed', 'floor', 'cold', 'warm', 'memo', 'eleventy'],
  },
  { ...large, name: 'markdown', kind: 'markdown', variants: ['typed', 'cold'] },
  { ...small, name: 'small', latency: 20, aims: { cold: { wall: 1.25 } } },
  { ...small, name: 'small-far', latency: 100, aims: { cold: { wall: 1.4 } } },
  {
    ...small,
    name: 'many-far',
    pages: 2_000,
    distinct: 10_000,
    latency: 100,
    // 100 at a time take 10 s.
    aims: { cold: { wall: 13 } },
    isAdded: true,
  },
  {
    ...common,
    name: 'plain',
    pages: 200,
    embeds: 0,
    variants: ['without', 'unused'],
    times: 5,
    aims: { unused: { cpu: 0.008 } },
    isAdded: true,
  },
  // Each of these snippets is on ten pages.
  {
    ...common,
    name: 'refresh',
    pages: 5_000,
    distinct: 2_500,
    variants: ['cold', 'refresh'],
    aims: { refresh: { wall: 0.39 } },
  },
  {
    ...common,
    name: 'pass',
    pages: 100_000,
    distinct: 10_000,
    variants: ['pass'],
    aims: { pass: { cpu: 8, memory: 500 } },
  },
  ...Object.entries(growing).flatMap(([grows, sizes]) =>
    sizes.map((size) => ({
      ...common,
      pages: 10_000,
      distinct: 1_000,
      variants: ['pass' as const],
      name: 'growth',
      grows: grows as keyof typeof growing,
      ...size,
    })),
  ),
];

/**
 * The same with fewer pages and without the lower limit: enough to see that everything works, and large
 * changes.
 */
export const quickSites: BenchSite[] = fullSites.map((site) => ({
  ...site,
  pages: Math.min(site.pages, Math.max(20, site.pages / 10)),
  distinct: Math.min(site.distinct, 1_000),
  variants: site.variants.filter((name) => name !== 'floor'),
}));
