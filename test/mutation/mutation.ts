import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { MutantResult } from '@stryker-mutator/api/core';
import { Stryker } from '@stryker-mutator/core';
import { Command } from 'commander';
import createAuthority from '../support/service/authority.ts';
import { draw, keyOf, listMutants, wasRun } from './mutants.ts';

// Measures how many small changes of the source the tests notice. Only for folders whose tests run the source in their own
// process: other processes run the built package, which is not changed.

const nearTests: Record<string, string[]> = {
  'src/client': [
    'test/client/*.test.ts',
    'test/promises/{cut-answers,failing-service,inputs,text-from-outside}.test.ts',
    'test/testing/*.test.ts',
  ],
  'src/text': ['test/text/*.test.ts', 'test/client/*.test.ts', 'test/promises/text-from-outside.test.ts'],
  'src/markup': ['test/{markup,content}/*.test.ts', 'test/embed/!(linear-time).test.ts'],
  'src/embed': ['test/embed/!(linear-time).test.ts', 'test/promises/inputs.test.ts'],
  'src/content': [
    'test/content/*.test.ts',
    'test/promises/{content-security-policy,html-in-context,open-html,sanitizing}.test.ts',
  ],
};
const rooms = Object.keys(nearTests);

const program = new Command('npm run test:mutation --')
  .description(`How many changes of the source the tests notice. For ${rooms.join(', ')}.`)
  .option('--files <paths...>', 'folders or files of the source', rooms)
  .option('--seed <text>', 'what decides which mutants are drawn', '1')
  .option('--count <number>', 'how many are drawn', Number, 200)
  .option('--at-least <percent>', 'exits with status 1 if fewer are noticed', Number, 0)
  .parse();
const options: { files: string[]; seed: string; count: number; atLeast: number } = program.opts();

const say = (line: string) => process.stdout.write(`${line}\n`);

const isIn = (path: string, room: string) => `${path}/`.startsWith(`${room}/`);
for (const path of options.files) {
  if (!rooms.some((room) => isIn(path, room))) program.error(`${path} is in none of ${rooms.join(', ')}.`);
}
const patterns = options.files.map((path) => (path.endsWith('.ts') ? path : `${path}/**/!(*.d).ts`));
const files = globSync(patterns).sort();

const all = await listMutants(files);
const drawn = draw(all, options.count, options.seed);
const from = `${all.length} mutants of ${files.length} files`;
say(`${drawn.length} of ${from}, drawn with the seed ${options.seed}.`);

// Stryker's processes read these from the environment.
const folder = mkdtempSync(join(tmpdir(), 'mutation-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
process.env['MUTATION_DRAWN'] = join(folder, 'drawn.json');
process.env['PROPERTY_RUNS'] ??= '0.05';
// Stryker runs tests in threads, which trust what their process trusted at its start.
const removeAuthority = await createAuthority();
writeFileSync(process.env['MUTATION_DRAWN'], JSON.stringify(drawn.map(keyOf)));

const run: MutantResult[] = [];
// One folder at a time, since mutants in code that runs once at load are run with all tests.
for (const room of rooms) {
  const mutate = new Set(
    drawn.map(({ fileName }) => relative('.', fileName)).filter((file) => isIn(file, room)),
  );
  if (mutate.size === 0) continue;
  process.env['MUTATION_TESTS'] = JSON.stringify(globSync(nearTests[room] ?? []));
  const stryker = new Stryker({ configFile: 'test/mutation/stryker.json', mutate: [...mutate] });
  run.push(...(await stryker.runMutationTest()).filter(wasRun));
}
await removeAuthority?.();
const survivors = run.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
for (const { fileName, location, mutatorName, replacement } of survivors) {
  // Unlike mutants, results count from 1.
  const { line, column } = location.start;
  say(`${relative('.', fileName)}:${line}:${column} ${mutatorName}: ${replacement}`);
}
const score = (100 * (run.length - survivors.length)) / run.length;
say(`${run.length - survivors.length} of ${run.length} were noticed: ${score.toFixed(1)} %.`);
if (score < options.atLeast) process.exitCode = 1;
