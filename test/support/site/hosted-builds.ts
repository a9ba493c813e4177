import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { authorityFile } from '../service/authority.ts';
import { cleanEnvironment } from '../tools/environment.ts';
import { astroFolder } from './installation.ts';

/** A command of Astro to run. */
export interface HostedBuild {
  folder: string;
  argv: readonly string[];
  environment: NodeJS.ProcessEnv;
}

/** A command of Astro that has ended. */
export interface HostedResult {
  exitCode: number;
  output: string;
}

/** A process that has loaded Astro. */
interface Host {
  process: ChildProcess;
  ready: Promise<unknown>;
  /** How many builds the host has run. Their modules stay in its memory. */
  builds: number;
}

const maxBuilds = 80;

/** The free host, if there is one. A worker has one host, and starts another for a second build at once. */
let free: Host | undefined;

/** Runs an Astro command in a process that has already loaded Astro. */
export async function runInHost(wanted: HostedBuild): Promise<HostedResult> {
  const host = free ?? startHost();
  free = undefined;
  await host.ready;
  host.process.ref();
  host.process.channel?.ref();
  const over = new AbortController();
  const answered = once(host.process, 'message', over);
  const ended = once(host.process, 'close', over).then(([status, signal]) => {
    throw new Error(`The process that runs Astro ended with ${signal ?? status}.`);
  });
  host.process.send(wanted);
  const [result] = await Promise.race([answered, ended]).finally(() => over.abort());
  host.builds += 1;
  if (free === undefined && host.builds < maxBuilds) {
    free = host;
    // The host ends with this worker.
    host.process.unref();
    host.process.channel?.unref();
  } else {
    host.process.disconnect();
  }
  return result as HostedResult;
}

function startHost(): Host {
  const child = fork(join(import.meta.dirname, 'astro-host.ts'), [astroFolder], {
    env: {
      ...cleanEnvironment(),
      NODE_EXTRA_CA_CERTS: authorityFile(),
      ASTRO_TELEMETRY_DISABLED: '1',
      NO_COLOR: '1',
    },
    // The host must not have vitest's package conditions.
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  return { process: child, ready: once(child, 'message'), builds: 0 };
}
