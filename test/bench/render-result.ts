import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Eta } from 'eta';
import { median, type Usage } from './measure.ts';
import type { Micro } from './micro.ts';
import type { Measured } from './run-cells.ts';
import type { Target } from './targets.ts';
import { type VariantName, variants } from './variants.ts';

export interface BenchResult {
  at: string;
  machine: string;
  measured: Measured[];
  micro: Micro;
  targets: Target[];
}

interface Row {
  name: string;
  /** Median and spread, in seconds. */
  wall: number;
  from: number;
  to: number;
  cpu: number;
  /** In MB. */
  memory: number;
  /** To the site that is typed in: the median over the turns. */
  ratio: number;
}

export function rowsOf({ runs }: Measured): Row[] {
  return Object.entries(runs).map(([name, usages]) => {
    const walls = usages.map(({ wall }) => wall);
    const typed = runs.typed ?? [];
    const of = (what: keyof Usage) => median(usages.map((usage) => usage[what]));
    return {
      name: variants[name as VariantName].name,
      wall: median(walls),
      from: Math.min(...walls),
      to: Math.max(...walls),
      cpu: of('cpu'),
      memory: of('memory'),
      ratio: median(walls.map((wall, turn) => wall / (typed[turn]?.wall ?? Number.NaN))),
    };
  });
}

export function titleOf({ cell }: Measured): string {
  return `${cell.pages.toLocaleString('en')} pages × ${cell.embeds} embeds, ${cell.distinct} snippets, ${cell.latency} ms (${cell.runs} ${cell.runs === 1 ? 'run' : 'runs'} each, in turns)`;
}

/** As Markdown, which is as good to read on a terminal. */
export function renderTable({ machine, measured, targets }: BenchResult): string {
  const lines = [machine, ''];
  for (const one of measured) {
    lines.push(
      `**${titleOf(one)}**`,
      '',
      '| | wall | spread | CPU | memory | × typed in |',
      '| --- | --: | --: | --: | --: | --: |',
    );
    for (const { name, wall, from, to, cpu, memory, ratio } of rowsOf(one)) {
      lines.push(
        `| ${name} | ${wall.toFixed(2)} s | ${from.toFixed(2)}–${to.toFixed(2)} | ${cpu.toFixed(2)} s | ${memory.toFixed(0)} MB | ${ratio.toFixed(2)} |`,
      );
    }
    lines.push('');
  }
  lines.push('| aim | measured | |', '| --- | --: | --- |');
  for (const { aim, measured: value, isMet } of targets) {
    lines.push(`| ${aim} | ${value} | ${isMet ? 'met' : '**missed**'} |`);
  }
  return `${lines.join('\n')}\n`;
}

export function renderPage(result: BenchResult): string {
  const template = readFileSync(join(import.meta.dirname, 'result.eta'), 'utf8');
  return new Eta({ autoEscape: true, autoTrim: false }).renderString(template, { result, rowsOf, titleOf });
}
