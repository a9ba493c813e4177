import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify, stripVTControlCharacters } from 'node:util';
import type { WatchOutput } from '../src/cli/json-output.ts';
import { signedHeaders } from './service/webhooks.ts';

/** The command line of Astro. */
export const astro: string = join(import.meta.dirname, '../node_modules/astro/bin/astro.mjs');

const command = join(import.meta.dirname, '../dist/cli/main.js');

/** The playground's site. */
export const site: string = join(import.meta.dirname, 'site');

/** Is told what a watch does. */
export interface WatchListener {
  onEvent(event: WatchOutput): void;
  /** Called with log lines, without colors. */
  onOutput(text: string): void;
  /** Called if the watch ends without being stopped. */
  onEnd(exitCode: number | null): void;
}

/** A running `astro-snippets watch`. */
export interface SiteWatch {
  /** Asks for a check. */
  check(): Promise<void>;
  stop(): Promise<void>;
}

/** The folder where the site is built. The finished site is served from another folder. */
export const builtFor = (served: string): string => `${served}-next`;

/** The file with the record of the served site. */
export function recordOf(served: string): string {
  const name = encodeURIComponent(relative(site, builtFor(served)).split(sep).join('/'));
  return join(site, 'node_modules/.astro/astro-snippets', `manifest.${name}.json`);
}

/** The flags for the served site and its record. */
const flagsOf = (served: string): string[] => ['--output', served, '--manifest', recordOf(served)];

/**
 * Runs `astro-snippets watch` as a user would, in its own process and with the key in its environment. It
 * builds the site first, since the sources may have changed.
 */
export function watchSite(
  served: string,
  environment: Record<string, string>,
  { onEvent, onOutput, onEnd }: WatchListener,
): SiteWatch {
  const flags = flagsOf(served);
  rmSync(recordOf(served), { force: true });
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const build = [process.execPath, join(import.meta.dirname, 'build-site.ts'), served];
  flags.push('--build', build.map((part) => `"${part}"`).join(' '));
  flags.push('--json', '--listen', '127.0.0.1:0', '--every', '1m');

  const child = spawn(process.execPath, [command, 'watch', ...flags], {
    cwd: site,
    env: {
      ASTRO_TELEMETRY_DISABLED: '1',
      ...process.env,
      ...environment,
      SNIPPETS_WEBHOOK_SECRET: secret,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

  let isStopping = false;
  const end = () => void child.kill();
  process.once('exit', end);
  const ended = once(child, 'close').then(([exitCode]) => {
    process.removeListener('exit', end);
    if (!isStopping) onEnd(exitCode);
  });

  const started = Promise.withResolvers<string>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const event: WatchOutput = JSON.parse(line);
    if (event.event === 'started') started.resolve(event.url ?? '');
    onEvent(event);
  });
  const { SNIPPETS_API_KEY: key = '' } = environment;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    process.stderr.write(text);
    const plain = stripVTControlCharacters(text);
    onOutput(key === '' ? plain : plain.replaceAll(key, '[API key]'));
  });

  return {
    async check() {
      const url = await started.promise;
      const headers = signedHeaders(secret, `msg_${randomBytes(12).toString('hex')}`, '{}');
      // A call that fails is no loss: the next check comes within a minute.
      await fetch(url, { method: 'POST', body: '{}', headers }).catch(() => {});
    },
    async stop() {
      isStopping = true;
      end();
      await ended;
    },
  };
}

/** The output of `astro-snippets list --json`. Rejects if the site has no usable record. */
export async function listSnippets(served: string, environment: Record<string, string>): Promise<string> {
  const options = { cwd: site, env: { ...process.env, ...environment }, maxBuffer: 64 * 1024 * 1024 };
  const list = [command, 'list', '--json', ...flagsOf(served)];
  const { stdout } = await promisify(execFile)(process.execPath, list, options);
  return stdout;
}
