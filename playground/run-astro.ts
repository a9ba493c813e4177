import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const astro = join(dirname(createRequire(import.meta.url).resolve('astro/package.json')), 'bin/astro.mjs');
const site = join(import.meta.dirname, 'site');

export interface RunningAstro {
  /** Its exit status. */
  ended: Promise<number>;
  stop(): void;
}

/** Runs an `astro` command on the playground's site, with its output going where ours goes. */
export function runAstro(arguments_: string[], environment: Record<string, string>): RunningAstro {
  const child = spawn(process.execPath, [astro, ...arguments_], {
    cwd: site,
    env: { ASTRO_TELEMETRY_DISABLED: '1', ...process.env, ...environment },
    stdio: 'inherit',
  });
  return {
    ended: new Promise((resolve, reject) => {
      child.once('error', reject);
      // A signal is how it is stopped, and no failure.
      child.once('exit', (code) => resolve(code ?? 0));
    }),
    stop: () => child.kill('SIGTERM'),
  };
}
