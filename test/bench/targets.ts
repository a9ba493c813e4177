import { median, type Usage } from './measure.ts';
import type { Micro } from './micro.ts';
import type { Measured } from './run-cells.ts';
import type { VariantName } from './variants.ts';

/** One aim, what was measured, and whether it was met. */
export interface Target {
  aim: string;
  measured: string;
  isMet: boolean;
}

/** Compares the measurements with the targets. A target whose cell was not run is left out. */
export function targetsOf(cells: readonly Measured[], micro: Micro): Target[] {
  const cell = (name: string) => cells.find((one) => one.cell.name === name);
  return [
    ...atMost(cell('large'), 'wall', 'cold', 'typed', 1.05),
    ...atMost(cell('large'), 'memory', 'cold', 'typed', 1.15),
    ...network(cell('large'), cell('large, 100 ms')),
    ...faster(cell('small, 20 ms')),
    ...cells.flatMap(neverSlower),
    ...perPage(cell('of 1,000 pages'), cell('of 20,000 pages')),
    aim('a page of 1 MB with 1,000 embeds: under 50 ms', micro.largePage, 50, 'ms'),
    aim('scanning a page without embeds: at least 1 GB/s', micro.plainScan, 1, 'GB/s', atLeast(1)),
    aim('importing the integration: under 60 ms', micro.imported, 60, 'ms'),
  ].filter((target) => target !== undefined);
}

function aim(
  text: string,
  value: number | undefined,
  limit: number,
  unit = '',
  isMet = (measured: number) => measured <= limit,
): Target | undefined {
  if (value === undefined) return undefined;
  return { aim: text, measured: `${value.toFixed(3)} ${unit}`.trim(), isMet: isMet(value) };
}

const atLeast = (limit: number) => (measured: number) => measured >= limit;

/** Of each run against the other of the same turn: the machine is as fast for both. */
function ratioOf(
  measured: Measured | undefined,
  what: keyof Usage,
  name: VariantName,
  against: VariantName,
): number | undefined {
  const [ours, theirs] = [measured?.runs[name], measured?.runs[against]];
  if (ours === undefined || theirs === undefined) return undefined;
  return median(ours.map((usage, turn) => usage[what] / (theirs[turn]?.[what] ?? Number.NaN)));
}

function atMost(
  measured: Measured | undefined,
  what: 'wall' | 'memory',
  name: VariantName,
  against: VariantName,
  limit: number,
): (Target | undefined)[] {
  const words = { wall: 'wall time', memory: 'peak memory' };
  const text = `5,000 pages × 5 embeds, 0 ms: ${words[what]} at most ${limit} × typed in`;
  return [aim(text, ratioOf(measured, what, name, against), limit)];
}

function added(measured: Measured | undefined, name: VariantName): number | undefined {
  const [ours, typed] = [measured?.runs[name], measured?.runs.typed];
  if (ours === undefined || typed === undefined) return undefined;
  return median(ours.map(({ wall }, turn) => wall - (typed[turn]?.wall ?? Number.NaN)));
}

/** What latency adds is what it makes of the difference to the limit, which has none. */
function network(near: Measured | undefined, far: Measured | undefined): (Target | undefined)[] {
  const concurrency = 20;
  const more = (name: VariantName) => {
    const [with_, without] = [added(far, name), added(near, name)];
    return with_ === undefined || without === undefined ? undefined : with_ - without;
  };
  if (far === undefined) return [];
  const { distinct, latency } = far.cell;
  const limit = (1.25 * Math.ceil(distinct / concurrency) * latency) / 1000;
  return [
    aim(`at 100 ms the network adds at most ${limit} s, cold`, more('cold'), limit, 's'),
    aim('at 100 ms the network adds under 0.2 s, with the last manifest', more('warm'), 0.2, 's'),
  ];
}

/** How many times less is added to a site that is typed in, than by asking in the component. */
function faster(measured: Measured | undefined): (Target | undefined)[] {
  const [fetch, cold] = [added(measured, 'fetch'), added(measured, 'cold')];
  if (fetch === undefined || cold === undefined) return [];
  return [aim('200 pages, 20 ms: adds 20 × less than await fetch', fetch / cold, 20, '×', atLeast(20))];
}

function neverSlower(measured: Measured): (Target | undefined)[] {
  const others: VariantName[] = ['fetch', 'memo', 'collection', 'eleventy'];
  return others.map((other) => {
    const ratio = ratioOf(measured, 'wall', 'cold', other);
    return aim(`${measured.cell.name}: no slower than ${other}`, ratio, 1, '×');
  });
}

function perPage(small: Measured | undefined, large: Measured | undefined): (Target | undefined)[] {
  if (small === undefined || large === undefined) return [];
  const [few, many] = [added(small, 'cold'), added(large, 'cold')];
  const memory = ({ runs, cell }: Measured) =>
    (median((runs.cold ?? []).map((usage) => usage.memory)) * 1000) / cell.pages;
  return [
    few === undefined || many === undefined
      ? undefined
      : aim(
          '20,000 pages: adds no more time per page than 1,000',
          many / large.cell.pages / (few / small.cell.pages),
          1,
          '×',
        ),
    aim('20,000 pages: no more memory per page than 1,000', memory(large) / memory(small), 1, '×'),
  ];
}
