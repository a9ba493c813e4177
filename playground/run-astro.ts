import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const astro = join(dirname(createRequire(import.meta.url).resolve('astro/package.json')), 'bin/astro.mjs');

/** Where the playground's site is. */
export const site = join(import.meta.dirname, 'site');

export interface AstroResult {
  exitCode: number;
  /** What it wrote, without colours. */
  output: string;
}

/**
 * Runs `astro build` on the playground's site as a user's own build would run: in a process of its own, with the
 * key in its environment. What it writes goes on to our own terminal too.
 */
export function buildSite(folder: string, environment: Record<string, string>): Promise<AstroResult> {
  const child = spawn(process.execPath, [astro, 'build', '--outDir', folder], {
    cwd: site,
    env: { ASTRO_TELEMETRY_DISABLED: '1', ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ] as const) {
    from.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      to.write(text);
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ exitCode: code ?? 1, output: stripVTControlCharacters(output) }));
  });
}
