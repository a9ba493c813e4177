import { join } from 'node:path';
import { median, type Usage } from './measure.ts';
import type { Measured } from './run-sites.ts';
import type { VariantName } from './variants.ts';

/** What `npm run bench` writes. */
export interface BenchResult {
  at: string;
  machine: string;
  /** Where the sites were: in memory, or on a disk. */
  folder: string;
  rounds: number;
  /** How many processes wanted a core in the last minute of it. More than the machine has cores: others were busy too. */
  load: number;
  measured: Measured[];
}

export const resultsFolder: string = join(import.meta.dirname, 'results');
/** The file of the last whole run. */
export const fullResult: string = join(resultsFolder, 'full.json');

/** One line of the table: what is compared, what came of it in each round, and what it should be. */
interface Row {
  what: string;
  /** Of each round. */
  values: number[];
  /** The same for CPU time instead of wall time. */
  cpu?: number[];
  unit: '×' | 's' | 'ms' | 'MB';
  /** At most. Only said of the sites of a whole run. */
  aim: number;
  /** The same measured on the least that can be done, of each round. */
  floor?: number[];
}

/** One that has to be compared within each round, in which the machine was as fast for both. */
function ratio(
  { site, runs }: Measured,
  what: string,
  [ours, theirs]: readonly [VariantName, VariantName],
  { aim, of = 'wall' }: { aim: number; of?: 'wall' | 'memory' },
): Row[] {
  const pairs = pairsOf(runs[ours], runs[theirs]);
  if (pairs.length === 0) return [];
  const ratios = (all: readonly [Usage, Usage][], measured: keyof Usage) =>
    all.map(([a, b]) => a[measured] / b[measured]);
  const row: Row = { what: `${sizeOf(site)}${what}`, values: ratios(pairs, of), unit: '×', aim };
  if (theirs === 'typed') row.floor = ratios(pairsOf(runs.floor, runs.typed), of);
  return [of === 'wall' ? { ...row, cpu: ratios(pairs, 'cpu') } : row];
}

function pairsOf(ours: readonly Usage[] = [], theirs: readonly Usage[] = []): [Usage, Usage][] {
  return ours.flatMap((usage, round): [Usage, Usage][] => {
    const other = theirs[round];
    return other === undefined ? [] : [[usage, other]];
  });
}

/** The size of a site for people. */
export function sizeOf({ pages, embeds, latency, kind }: Measured['site']): string {
  const noun = { sections: 'pages', articles: 'articles', markdown: 'articles in Markdown' }[kind];
  const size = `${pages.toLocaleString('en')} ${noun}${embeds === 0 ? '' : ` × ${embeds}`}`;
  return embeds === 0 ? size : `${size}, ${latency} ms`;
}

const peers: readonly (readonly [VariantName, string])[] = [
  ['memo', 'a memo of fetch'],
  ['collection', 'a collection'],
  ['fetch', 'fetch in the component'],
  ['eleventy', '@11ty/eleventy-fetch'],
];

export function rowsOf({ measured }: Pick<BenchResult, 'measured'>): Row[] {
  const site = (name: string) => measured.filter((one) => one.site.name === name);
  const typed = (name: string, what: string, ours: VariantName, aim: number) =>
    site(name).flatMap((one) => ratio(one, `, ${what}`, [ours, 'typed'], { aim }));
  return [
    ...typed('large', 'cold', 'cold', 1.12),
    ...site('large').flatMap((one) =>
      ratio(one, ', cold: peak memory', ['cold', 'typed'], { aim: 1.03, of: 'memory' }),
    ),
    ...['articles', 'markdown'].flatMap((name) => [
      ...typed(name, 'cold', 'cold', 1.12),
      ...typed(name, 'with the last manifest', 'warm', 1.1),
      ...site(name).flatMap((one) =>
        ratio(one, ', cold: peak memory', ['cold', 'typed'], { aim: 1.06, of: 'memory' }),
      ),
    ]),
    ...typed('large-far', 'cold', 'cold', 1.11),
    ...typed('large-far', 'with the last manifest', 'warm', 1.08),
    ...typed('small', 'cold', 'cold', 1.35),
    ...typed('small-far', 'cold', 'cold', 1.55),
    ...site('large').flatMap(refreshRow),
    ...site('plain').flatMap(plainRow),
    ...site('pass').flatMap(passRows),
    ...measured.flatMap((one) =>
      peers.flatMap(([peer, name]) =>
        ratio(one, `, against ${name}`, ['cold', peer], {
          aim: one.site.name === 'large' && peer === 'memo' ? 1.05 : 1,
        }),
      ),
    ),
  ];
}

function refreshRow({ site, runs: { refresh = [] } }: Measured): Row[] {
  if (refresh.length === 0) return [];
  const what = `refresh of ${Math.ceil(site.pages / 40)} pages, ${site.distinct} snippets`;
  return [
    {
      what,
      values: refresh.map(({ wall }) => wall),
      cpu: refresh.map(({ cpu }) => cpu),
      unit: 's',
      aim: 0.39,
    },
  ];
}

function plainRow({ site, runs }: Measured): Row[] {
  const added = (usages: readonly Usage[] | undefined) =>
    pairsOf(usages, runs.without).map(([a, b]) => (a.cpu - b.cpu) * 1000);
  const values = added(runs.unused);
  if (values.length === 0) return [];
  const what = `${sizeOf(site)} without embeds: added CPU`;
  return [{ what, values, unit: 'ms', aim: 8, floor: added(runs.empty) }];
}

function passRows({ site, runs: { pass = [] }, manifest = 0 }: Measured): Row[] {
  if (pass.length === 0) return [];
  const what = `${site.pages.toLocaleString('en')} pages × ${site.embeds}, ${site.distinct.toLocaleString('en')} snippets, the pass alone`;
  return [
    { what: `${what}: CPU`, values: pass.map(({ cpu }) => cpu), unit: 's', aim: 10 },
    { what: `${what}: peak memory`, values: pass.map(({ memory }) => memory), unit: 'MB', aim: 500 },
    { what: `${what}: size of the manifest`, values: [manifest], unit: 'MB', aim: 16 },
  ];
}

const digits = { '×': 3, s: 2, ms: 0, MB: 0 } as const;

function shown(value: number, unit: Row['unit']): string {
  return `${value.toFixed(digits[unit])}${unit === '×' ? '' : ' '}${unit}`;
}

/** What has to be known about a run to judge its figures. */
function describeRun({ machine, at, rounds, folder, load }: BenchResult): string {
  const busy = ` Other work ran on the machine (${load.toFixed(0)} processes for ${coresOf(machine)} cores), so wall time says little, and the spread is wide.`;
  const run = `${machine}. ${at.slice(0, 10)}, ${rounds === 1 ? '1 round' : `${rounds} rounds`}, sites ${folder}.`;
  return isBusy({ machine, load }) ? run + busy : run;
}

const coresOf = (machine: string) => Number.parseInt(machine, 10);

/** Whether other work on the machine makes wall times useless. */
export function isBusy({ machine, load }: Pick<BenchResult, 'machine' | 'load'>): boolean {
  return load > 2 * coresOf(machine);
}

/** The aims as Markdown, which is as good to read on a terminal: the median over the rounds, and the extremes. */
export function tableOf(result: BenchResult): string {
  const lines = rowsOf(result).map(({ what, values, cpu, unit, aim, floor = [] }) => {
    const spread = `${Math.min(...values).toFixed(digits[unit])}–${Math.max(...values).toFixed(digits[unit])}`;
    const beside = cpu === undefined ? '' : shown(median(cpu), unit);
    const least = floor.length === 0 ? '' : shown(median(floor), unit);
    return `| ${what} | ${shown(median(values), unit)} | ${spread} | ${beside} | ${aim} | ${least} |`;
  });
  return [
    describeRun(result),
    '',
    '| what | measured | spread | CPU | aim | floor |',
    '| --- | --: | --: | --: | --: | --: |',
    ...lines,
    '',
  ].join('\n');
}
