import { execFile, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';

const astro = join(dirname(createRequire(import.meta.url).resolve('astro/package.json')), 'bin/astro.mjs');

const command = join(import.meta.dirname, '../dist/cli/main.js');

/** Where the playground's site is. */
export const site = join(import.meta.dirname, 'site');

export interface RunResult {
  exitCode: number;
  /** What it wrote, without colours. */
  output: string;
}

/** Runs `astro build` on the playground's site as a user's own build would run. */
export function buildSite(folder: string, environment: Record<string, string>): Promise<RunResult> {
  return run([astro, 'build', '--outDir', folder], environment);
}

/** Names a site that was built in another folder, and its record. */
function moved(folder: string, from: string): string[] {
  const name = encodeURIComponent(relative(site, from).split(sep).join('/'));
  const record = join(site, 'node_modules/.astro/astro-snippets', `manifest.${name}.json`);
  return ['--output', folder, '--manifest', record];
}

/** Runs `astro-snippets refresh` on a site that was built in another folder. */
export function refreshSite(
  folder: string,
  from: string,
  environment: Record<string, string>,
): Promise<RunResult> {
  return run([command, 'refresh', ...moved(folder, from)], environment);
}

/** What `astro-snippets list --json` writes about a built site. Rejects when the site has no usable record. */
export async function listSnippets(
  folder: string,
  from: string,
  environment: Record<string, string>,
): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [command, 'list', '--json', ...moved(folder, from)],
    { cwd: site, env: { ...process.env, ...environment }, maxBuffer: 64 * 1024 * 1024 },
  );
  return stdout;
}

/** In a process of its own, with the key in its environment; what it writes goes on to our own terminal too. */
function run(arguments_: string[], environment: Record<string, string>): Promise<RunResult> {
  const child = spawn(process.execPath, arguments_, {
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
    child.once('close', (code) => {
      const plain = stripVTControlCharacters(output);
      const { SNIPPETS_API_KEY: key = '' } = environment;
      resolve({ exitCode: code ?? 1, output: key === '' ? plain : plain.replaceAll(key, '[API key]') });
    });
  });
}
