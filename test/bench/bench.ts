import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { peerSites, peersTable } from './peers.ts';
import {
  type BenchResult,
  describeRun,
  growthOf,
  growthTable,
  peersResult,
  resultsFolder,
  tableOf,
} from './result.ts';
import { runSites, sitesFolder } from './run-sites.ts';
import { fullSites, quickSites } from './sites.ts';

const number = (text: string) => Number(text.replaceAll('_', ''));

const program = new Command('npm run bench --')
  .description('How long sites take to build that have their snippets in one way or another.')
  .option('--quick', 'smaller sites, in under two minutes on a machine with nothing else to do')
  .option('--peers', 'only what one would write instead, for several latencies of the service')
  .option('--rounds <number>', 'how many times each is built', number)
  .option('--sites <names...>', 'some of the sites')
  .parse();

const { quick = false, peers = false, rounds = quick ? 2 : 5, sites: names } = program.opts();
const all = peers ? peerSites : quick ? quickSites : fullSites;
const sites = names === undefined ? all : all.filter(({ name }) => names.includes(name));
if (sites.length === 0) throw new Error(`The sites are ${all.map(({ name }) => name).join(', ')}.`);

const kept = quick ? 'quick' : names === undefined ? 'full' : 'own';
const file = peers && names === undefined ? peersResult : join(resultsFolder, `${kept}.json`);
await mkdir(resultsFolder, { recursive: true });

const start = performance.now();
const [cpu] = cpus();
const about = {
  at: new Date().toISOString(),
  machine: `${cpus().length} × ${cpu?.model.trim() || process.arch}, ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform}, Node ${process.versions.node}`,
  folder: sitesFolder.isInMemory ? 'in memory' : 'on a disk',
};
await runSites(sites, rounds, {
  say: (line) => process.stderr.write(`${line}\n`),
  // The result is written after each round, so that an interrupted run keeps it.
  async onRound(measured, done) {
    const result: BenchResult = { ...about, load: loadavg()[0] ?? 0, rounds: done, measured };
    // The runs of a variant share a line.
    const text = JSON.stringify(result, undefined, 1).replace(/\[[^[\]]*\]/g, (runs) =>
      JSON.stringify(JSON.parse(runs)),
    );
    await writeFile(file, `${text}\n`);
    if (done < rounds) return;
    const tables = peers
      ? [describeRun(result), peersTable(result)]
      : [describeRun(result), tableOf(result, { withAims: true }), growthTable(growthOf(result))];
    process.stdout.write(`\n${tables.join('\n\n')}`);
  },
});
const seconds = ((performance.now() - start) / 1000).toFixed(0);
process.stdout.write(`\nTook ${seconds} s, with the sites in ${sitesFolder.path}. Written to ${file}.\n`);
