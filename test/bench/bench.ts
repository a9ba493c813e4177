import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { type Cell, fullCells, quickCells } from './cells.ts';
import { measureMicro } from './micro.ts';
import { type BenchResult, renderPage, renderTable } from './render-result.ts';
import { runCells } from './run-cells.ts';
import { targetsOf } from './targets.ts';
import type { VariantName } from './variants.ts';

const number = (text: string) => Number(text.replaceAll('_', ''));

const program = new Command('npm run bench --')
  .description('How long sites take to build that have their snippets in one way or another.')
  .option('--quick', 'small sites, few runs')
  .option('--pages <number>', 'one site of so many pages, instead of those that are kept', number)
  .option('--embeds <number>', 'on each page', number, 5)
  .option('--distinct <number>', 'different snippets', number, 200)
  .option('--page-size <bytes>', 'of each page besides its embeds', number, 4_000)
  .option('--latency <milliseconds>', 'of the service', number, 0)
  .option('--runs <number>', 'of each variant', number, 3)
  .option('--variants <names...>', 'which', ['typed', 'cold', 'warm', 'refresh'])
  .parse();

const options = program.opts();
const own: Cell | undefined =
  options['pages'] === undefined
    ? undefined
    : {
        name: 'your own',
        pages: options['pages'],
        embeds: options['embeds'],
        distinct: options['distinct'],
        pageSize: options['pageSize'],
        latency: options['latency'],
        runs: options['runs'],
        variants: options['variants'] as VariantName[],
      };
const isFull = own === undefined && options['quick'] !== true;
const cells = own !== undefined ? [own] : isFull ? fullCells : quickCells;

const micro = measureMicro();
const measured = await runCells(cells, (line) => process.stderr.write(`${line}\n`));
const [cpu] = cpus();
const result: BenchResult = {
  at: new Date().toISOString(),
  machine: `${cpus().length} × ${cpu?.model.trim() || process.arch}, ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform}, Node ${process.versions.node}`,
  measured,
  micro,
  targets: targetsOf(measured, micro),
};

process.stdout.write(`\n${renderTable(result)}`);
const folder = join(import.meta.dirname, 'results');
await mkdir(folder, { recursive: true });
// The kept ones are of a whole run; others are for the one who ran them.
const name = isFull ? 'full' : own === undefined ? 'quick' : 'own';
await writeFile(join(folder, `${name}.json`), `${JSON.stringify(result, undefined, 1)}\n`);
await writeFile(join(folder, `${name}.html`), renderPage(result));
process.stdout.write(`\nWritten to ${join(folder, name)}.json and .html\n`);
