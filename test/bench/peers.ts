import { median, type Usage } from './measure.ts';
import { type BenchResult, describeRun, type Measured, table } from './result.ts';
import type { BenchSite } from './sites.ts';
import type { VariantName } from './variants.ts';

const sizes = [50, 200, 5_000];
const latencies = [0, 5, 20, 100];

/** The ways to show snippets that are compared with each other, as columns and lines are named. */
const ways = {
  cold: 'astro-snippets',
  warm: 'astro-snippets, built before',
  memo: '`fetch` with a memo',
  eleventy: 'eleventy-fetch',
  eleventyWarm: 'eleventy-fetch, built before',
} as const satisfies Partial<Record<VariantName, string>>;

type Way = keyof typeof ways;

const wayNames = Object.keys(ways) as Way[];

/** Sites on which this package is compared with what people write instead, for several latencies. */
export const peerSites: BenchSite[] = sizes.flatMap((pages) =>
  latencies.map((latency) => ({
    name: `peers-${pages}-${latency}`,
    pages,
    latency,
    embeds: 5,
    distinct: 200,
    pageSize: 4_000,
    contentSize: 200,
    kind: 'sections' as const,
    variants: ['typed' as const, ...wayNames],
  })),
);

/** The median of a figure, as a multiple of the same site with the contents typed in. */
function ratioOf({ runs }: Measured, way: Way, figure: keyof Usage): number {
  return median(
    (runs[way] ?? []).map((usage, round) => usage[figure] / (runs.typed?.[round]?.[figure] ?? Number.NaN)),
  );
}

/** The multiples of wall and CPU time as a table in Markdown. */
export function peersTable({ measured }: Pick<BenchResult, 'measured'>): string {
  const rows = measured.map((site) => [
    `${site.site.pages.toLocaleString('en')} pages, ${site.site.latency} ms`,
    ...wayNames.map(
      (way) => `${ratioOf(site, way, 'wall').toFixed(2)} / ${ratioOf(site, way, 'cpu').toFixed(2)}`,
    ),
  ]);
  return table([['', ...wayNames.map((way) => ways[way])], ...rows]);
}

/**
 * The smallest latency from which on no peer is faster, with the latency as the service has it, for each
 * number of pages; `undefined` if there is none among those measured.
 */
export function aheadFrom({ measured }: Pick<BenchResult, 'measured'>): Map<number, number | undefined> {
  const isAhead = (site: Measured) =>
    ratioOf(site, 'cold', 'wall') <=
    Math.min(ratioOf(site, 'memo', 'wall'), ratioOf(site, 'eleventy', 'wall'));
  const bySize = Map.groupBy(measured, ({ site }) => site.pages);
  return new Map(
    [...bySize].map(([pages, sites]) => {
      const lastBehind = sites.findLastIndex((site) => !isAhead(site));
      return [pages, sites[lastBehind + 1]?.site.latency];
    }),
  );
}

/** The section of docs/performance.md about what people write instead. */
export function peersSection(result: BenchResult): string {
  const ahead = [...aheadFrom(result)].map(([pages, latency]) => {
    const size = `${pages.toLocaleString('en')} pages`;
    return latency === undefined
      ? `on ${size}, at none of these latencies`
      : `on ${size}, ${latency === 0 ? 'at any latency' : `from ${latency} ms on`}`;
  });
  return `## What one would write instead

Wall / CPU time as multiples of the same site with the contents typed in. The first column says how long the service takes for an answer.

${peersTable(result)}
A first build with this package takes less time than one with the others: ${ahead.join('; ')}.

![Wall time by the latency of the service](performance/peers.svg)

_\`fetch\` with a memo_ is \`await fetch()\` in a component, with each answer kept in a variable. Neither it nor eleventy-fetch retries, falls back, reports, or knows what to refresh.

Medians of builds in turns. ${describeRun(result)}

`;
}

const drawing = { width: 760, height: 300, panel: 235, left: 45, top: 30, bottom: 60 };

/** The ways in the plot, whose classes have the colors: built before leaves nothing to wait for. */
const lines: Record<'cold' | 'memo' | 'eleventy', 'ours' | 'other' | 'third'> = {
  cold: 'ours',
  memo: 'other',
  eleventy: 'third',
};

const style =
  '<style>text{font:13px system-ui,sans-serif;fill:#1f2937}path{fill:none;stroke-width:2}.ours{stroke:#047857}.other{stroke:#1d4ed8}.third{stroke:#b45309}.axis{stroke:#9ca3af;stroke-width:1}@media(prefers-color-scheme:dark){text{fill:#e5e7eb}.ours{stroke:#6ee7b7}.other{stroke:#93b4ff}.third{stroke:#fbbf24}}</style>';

/** Draws the multiples of wall time by latency: a panel for each number of pages. The scale is logarithmic. */
export function peersPlot({ measured }: Pick<BenchResult, 'measured'>): string {
  const { width, height, panel, left, top, bottom } = drawing;
  const ways = Object.keys(lines) as (keyof typeof lines)[];
  const highest = Math.max(2, ...measured.flatMap((site) => ways.map((way) => ratioOf(site, way, 'wall'))));
  const y = (ratio: number) =>
    (height - bottom - (Math.log(Math.max(1, ratio)) / Math.log(highest)) * (height - top - bottom)).toFixed(
      1,
    );
  const panels = [...Map.groupBy(measured, ({ site }) => site.pages)].map(([pages, sites], index) => {
    const start = left + index * panel;
    const x = (place: number) =>
      (start + 10 + (place * (panel - 60)) / Math.max(1, sites.length - 1)).toFixed(1);
    const axis = `<path class="axis" d="M${x(0)},${y(1)}H${x(sites.length - 1)}"/>`;
    const drawn = ways.map((way) => {
      const points = sites.map((site, place) => `${x(place)},${y(ratioOf(site, way, 'wall'))}`);
      return `<path class="${lines[way]}" d="M${points.join('L')}"/>`;
    });
    const marks = sites.map(
      ({ site }, place) =>
        `<text x="${x(place)}" y="${height - bottom + 20}" text-anchor="middle">${site.latency}</text>`,
    );
    const title = `<text x="${start + panel / 2 - 20}" y="16" text-anchor="middle">${pages.toLocaleString('en')} pages</text>`;
    return [title, axis, ...drawn, ...marks].join('\n');
  });
  const scale = [1, 1.5, 2, 3, 5, 8, 12, 20]
    .filter((ratio) => ratio <= highest)
    .map(
      (ratio) =>
        `<text x="${left - 8}" y="${y(ratio)}" text-anchor="end" dominant-baseline="central">${ratio}×</text>`,
    );
  const legend = ways.map((way, index) => {
    const start = left + index * 200;
    const place = height - 14;
    const name = { cold: 'astro-snippets', memo: 'fetch with a memo', eleventy: 'eleventy-fetch' }[way];
    return `<path class="${lines[way]}" d="M${start},${place}H${start + 24}"/><text x="${start + 32}" y="${place}" dominant-baseline="central">${name}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Wall time compared with contents typed in, by the latency of the service in milliseconds">
${style}
${[...panels, ...scale, ...legend].join('\n')}
<text x="${width - 8}" y="${height - 14}" text-anchor="end" dominant-baseline="central">latency in ms</text>
</svg>
`;
}
