import { AsyncLocalStorage } from 'node:async_hooks';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { HostedBuild, HostedResult } from './hosted-builds.ts';

// Runs Astro's own command line again and again in one process, since loading Astro takes longer than
// building a small site. Each run has its own folder, environment, output and exit status.

/** Thrown by `process.exit`, so that nothing after the call runs. */
class Exit extends Error {}

/** One run of Astro. */
interface Run {
  output: string;
  /** Ends the run, as `process.exit` ends a process. */
  exit(status: number): void;
}

const astro = (path: string) => import(pathToFileURL(join(process.argv[2] as string, path)).href);
const { cli } = await astro('dist/cli/index.js');
// Builds are loaded here: esbuild starts its process later in the current folder, and a site's folder may be
// gone by then.
await astro('dist/core/build/index.js');
// Astro prints an error if the process still runs 400 ms after its exit. That error belongs to the old run.
const runs = new AsyncLocalStorage<Run>();
let latest: Run | undefined;
const current = () => runs.getStore() ?? latest;

for (const stream of [process.stdout, process.stderr]) {
  stream.write = (chunk: string | Uint8Array, encoding?: unknown, callback?: unknown) => {
    const run = current();
    if (run !== undefined) run.output += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    const written = typeof encoding === 'function' ? encoding : callback;
    if (typeof written === 'function') written();
    return true;
  };
}

process.exit = ((status?: number) => {
  current()?.exit(status ?? Number(process.exitCode ?? 0));
  throw new Exit();
}) as typeof process.exit;

// Handles what the stubbed exit throws in a callback, and errors that would end a real process.
const endLatest = (error: unknown, why = '') => {
  if (error instanceof Exit) return;
  const run = current();
  if (run === undefined) return;
  run.output += `${why}${error instanceof Error ? error.stack : error}\n`;
  run.exit(1);
};
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error: unknown) => endLatest(error, `${event}: `));
}

async function build({ folder, argv, environment }: HostedBuild): Promise<HostedResult> {
  process.chdir(folder);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  process.exitCode = undefined;
  const ended = Promise.withResolvers<number>();
  const run: Run = { output: '', exit: ended.resolve };
  latest = run;
  runs.run(run, () =>
    cli(['node', 'astro', ...argv]).then(
      () => ended.resolve(Number(process.exitCode ?? 0)),
      (error: unknown) => endLatest(error),
    ),
  );
  const exitCode = await ended.promise;
  process.exitCode = undefined;
  return { exitCode, output: run.output };
}

process.on('message', async (wanted: HostedBuild) => process.send?.(await build(wanted)));
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.send?.('ready');
