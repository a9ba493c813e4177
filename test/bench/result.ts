import { join } from 'node:path';
import { median, type Usage } from './measure.ts';
import type { BenchSite } from './sites.ts';
import type { VariantName } from './variants.ts';

/** A site, and what its variants cost. */
export interface Measured {
  site: BenchSite;
  /** The cost of each variant, once per round. */
  runs: Partial<Record<VariantName, Usage[]>>;
}

/** The result that `npm run bench` writes. */
export interface BenchResult {
  /** The time of the run, in ISO format. */
  at: string;
  /** The number and the model of the cores. */
  machine: string;
  /** The place of the sites: in memory or on a disk. */
  folder: string;
  rounds: number;
  /** The load average of the last minute. If it exceeds the number of cores, other work ran too. */
  load: number;
  measured: Measured[];
}

export const resultsFolder: string = join(import.meta.dirname, 'results');
/** The result of the last whole run. */
export const fullResult: string = join(resultsFolder, 'full.json');
/** The result of the last run of `npm run bench -- --peers`. */
export const peersResult: string = join(resultsFolder, 'peers.json');

/** The measurements of a variant of a site, one per round. */
export interface Row {
  /** The site and the variant, in words. */
  subject: string;
  /**
   * Whole figures, or compared with the same site without snippets: added to its figures, or times as much.
   */
  kind: 'whole' | 'added' | 'times';
  usages: Usage[];
  aims: Partial<Usage>;
}

const kinds = ['wall', 'cpu', 'memory'] as const;

const number = (value: number) => value.toLocaleString('en');

/** The size of a site in words. */
export function sizeOf({ pages, embeds, latency, kind, distinct, grows }: BenchSite): string {
  const noun = { sections: 'pages', articles: 'articles', markdown: 'articles in Markdown' }[kind];
  const snippets = distinct > 2_500 || grows !== undefined ? `, ${number(distinct)} snippets` : '';
  const wait = latency === 0 ? '' : `, ${latency} ms`;
  const each = embeds === 0 ? ' without embeds' : embeds === 5 ? '' : ` × ${number(embeds)}`;
  return `${number(pages)} ${noun}${each}${snippets}${wait}`;
}

const names: Partial<Record<VariantName, (size: string, site: BenchSite) => string>> = {
  cold: (size) => size,
  unused: (size) => size,
  warm: (size) => `${size}, built before`,
  refresh: (_, { pages, embeds, distinct }) =>
    `\`refresh\` of ${number(Math.ceil((pages * embeds) / distinct))} of ${number(pages)} pages`,
  pass: (size) => `${size}, only the pass`,
};

/** The rows of the table. Variants are compared within a round, where the machine was as fast for both. */
export function rowsOf({ measured }: Pick<BenchResult, 'measured'>): Row[] {
  const sites = measured.filter(({ site }) => site.grows === undefined);
  return sites.flatMap(({ site, runs }) =>
    Object.entries(names).flatMap(([key, nameOf]): Row[] => {
      const name = key as VariantName;
      const usages = runs[name] ?? [];
      const base = runs.typed ?? runs.without;
      const isWhole = name === 'refresh' || name === 'pass';
      if (usages.length === 0 || (base === undefined && !isWhole)) return [];
      const kind = isWhole ? 'whole' : site.isAdded ? 'added' : 'times';
      const compare = (usage: Usage, round: number) => {
        const of = (figure: keyof Usage) => {
          const other = base?.[round]?.[figure] ?? Number.NaN;
          if (kind === 'whole') return usage[figure];
          return kind === 'added' ? usage[figure] - other : usage[figure] / other;
        };
        return { wall: of('wall'), cpu: of('cpu'), memory: of('memory') };
      };
      const subject = nameOf(sizeOf(site), site);
      return [{ subject, kind, usages: usages.map(compare), aims: site.aims?.[name] ?? {} }];
    }),
  );
}

/** The median of a figure, with its unit. */
export function shown({ kind, usages }: Row, figure: keyof Usage): string {
  const value = median(usages.map((usage) => usage[figure]));
  if (kind === 'times') return `${value.toFixed(2)}×`;
  const sign = kind === 'added' && value >= 0 ? '+' : '';
  if (figure === 'memory') return `${sign}${value.toFixed(0)} MB`;
  return Math.abs(value) < 0.1 ? `${sign}${(value * 1000).toFixed(0)} ms` : `${sign}${value.toFixed(2)} s`;
}

/** Says what a reader needs to judge the figures of a run. */
export function describeRun({ machine, at, rounds, folder, load }: BenchResult): string {
  const busy = ` Other work ran on the machine (${load.toFixed(0)} processes for ${coresOf(machine)} cores), so wall time says little, and the spread is wide.`;
  const run = `${machine}. ${at.slice(0, 10)}, ${rounds === 1 ? '1 round' : `${rounds} rounds`}, sites ${folder}.`;
  return isBusy({ machine, load }) ? run + busy : run;
}

const coresOf = (machine: string) => Number.parseInt(machine, 10);

/** Whether other work on the machine makes wall times useless. */
export function isBusy({ machine, load }: Pick<BenchResult, 'machine' | 'load'>): boolean {
  return load > 2 * coresOf(machine);
}

/** A table as Markdown, which a terminal can show too. */
export function table([head = [], ...rows]: readonly (readonly string[])[]): string {
  const lines = [head, head.map((_, index) => (index === 0 ? '---' : '--:')), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

/** The medians, and for maintainers the extremes and aims. */
export function tableOf(result: BenchResult, { withAims = false } = {}): string {
  const cell = (row: Row, figure: keyof Usage) => {
    const values = row.usages.map((usage) => usage[figure]);
    const digits = figure === 'memory' && row.kind !== 'times' ? 0 : 3;
    const spread = `${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)}`;
    const aim = row.aims[figure] === undefined ? '' : `, aim ${row.aims[figure]}`;
    return withAims ? `${shown(row, figure)} (${spread}${aim})` : shown(row, figure);
  };
  const rows = rowsOf(result).map((row) => [row.subject, ...kinds.map((figure) => cell(row, figure))]);
  return table([['', 'wall', 'CPU', 'memory'], ...rows]);
}

/** Something that grows, and the measured cost. */
export interface Growth {
  name: string;
  /** `perEmbed`: microseconds of CPU time without the start of the process. `memory`: the peak in MB. */
  points: { size: number; perEmbed: number; memory: number }[];
}

const sizes: Record<NonNullable<BenchSite['grows']>, [name: string, of: (site: BenchSite) => number]> = {
  nothing: ['start', () => 1],
  pages: ['pages', ({ pages }) => pages],
  snippets: ['snippets', ({ distinct }) => distinct],
  embeds: ['embeds a page', ({ embeds }) => embeds],
  content: ['bytes of content', ({ contentSize }) => contentSize],
  everything: ['snippets, on 100,000 pages', ({ distinct }) => distinct],
};

/** How the cost of an embed changes with the size of a site. */
export function growthOf({ measured }: Pick<BenchResult, 'measured'>): Growth[] {
  const [start, ...sites] = measured.filter(({ site }) => site.grows !== undefined);
  return [...Map.groupBy(sites, ({ site }) => sizes[site.grows ?? 'nothing'])].map(
    ([[name, sizeIn], grown]) => ({
      name,
      points: grown.map(({ site, runs: { pass = [] } }) => {
        const costs = pass.map(({ cpu }, round) => (cpu - (start?.runs.pass?.[round]?.cpu ?? 0)) * 1e6);
        const perEmbed = median(costs) / site.pages / site.embeds;
        return { size: sizeIn(site), perEmbed, memory: median(pass.map(({ memory }) => memory)) };
      }),
    }),
  );
}

/** The costs of growing sites as a table in Markdown. */
export function growthTable(growth: readonly Growth[]): string {
  const rows = growth.map(({ name, points }) => [
    name,
    ...points.map(({ size, perEmbed, memory }) => {
      return `${number(size)}: ${number(Math.round(perEmbed))}, ${memory.toFixed(0)}`;
    }),
  ]);
  return table([['', 'small', 'larger', 'large'], ...rows]);
}
