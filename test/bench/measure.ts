import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startProgram } from '../support/tools/command.ts';
import { cleanEnvironment } from '../support/tools/environment.ts';

/** The cost of one run of a command. */
export interface Usage {
  /** The time from start to end, in seconds. */
  wall: number;
  /** The CPU time of all threads, in seconds. */
  cpu: number;
  /** The peak of the resident memory, in MB. */
  memory: number;
}

// The measured process loads this code, since only the process itself knows its usage at its end. The code is
// JavaScript, since loading TypeScript takes time and memory.
const recorder = `
  import { writeFileSync } from 'node:fs';
  import { isMainThread } from 'node:worker_threads';
  const file = process.env.BENCH_USAGE;
  if (isMainThread && file) {
    delete process.env.BENCH_USAGE;
    process.on('exit', () => {
      const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
      writeFileSync(file, JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1e6, memory: maxRSS / 1024 }));
    });
  }`;

/** Runs a script in its own Node process and measures it. @throws Error if it fails. */
export async function measure(
  folder: string,
  script: string,
  arguments_: readonly string[],
  environment: Record<string, string>,
): Promise<Usage> {
  const usageFile = join(folder, 'usage.json');
  const start = performance.now();
  const { ended } = startProgram(script, folder, arguments_, {
    ...cleanEnvironment(),
    ASTRO_TELEMETRY_DISABLED: '1',
    NO_COLOR: '1',
    CI: '1',
    ...environment,
    NODE_OPTIONS: `${environment['NODE_OPTIONS'] ?? ''} --import data:text/javascript,${encodeURIComponent(recorder)}`,
    BENCH_USAGE: usageFile,
  });
  const { exitCode, output } = await ended;
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
