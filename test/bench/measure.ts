import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cleanEnvironment } from '../support/environment.ts';

/** The cost of one run of a command. */
export interface Usage {
  /** From start to end, in seconds. */
  wall: number;
  /** Of all its threads, in seconds. */
  cpu: number;
  /** At its highest, in MB. */
  memory: number;
}

const recorder = join(import.meta.dirname, 'record-usage.ts');

/** Runs a script in its own Node process and measures it. @throws Error if it fails. */
export async function measure(
  folder: string,
  script: string,
  arguments_: readonly string[],
  environment: Record<string, string>,
): Promise<Usage> {
  const usageFile = join(folder, 'usage.json');
  const start = performance.now();
  const child = spawn(process.execPath, ['--import', recorder, script, ...arguments_], {
    cwd: folder,
    env: {
      ...cleanEnvironment(),

      ASTRO_TELEMETRY_DISABLED: '1',
      NO_COLOR: '1',
      CI: '1',
      ...environment,
      BENCH_USAGE: usageFile,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const exitCode = await new Promise((resolve) => child.once('close', resolve));
  const wall = (performance.now() - start) / 1000;
  if (exitCode !== 0) throw new Error(`${script} ${arguments_.join(' ')} ended with ${exitCode}:\n${output}`);
  const usage = JSON.parse(await readFile(usageFile, 'utf8'));
  return { wall, ...usage };
}

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1
    ? (sorted[Math.floor(middle)] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}
