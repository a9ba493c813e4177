import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

/** A running Redis. */
export interface Redis {
  url: string;
  /** Kills the server, like a crash. */
  kill(): Promise<void>;
}

/** Starts an empty Redis. */
export async function startRedis(): Promise<Redis> {
  const folder = await mkdtemp(join(tmpdir(), 'snippets-redis-'));
  const port = await freePort();
  const server = spawn(
    'redis-server',
    ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--dir', folder],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = once(server, 'close');
  await new Promise<void>((resolve, reject) => {
    let output = '';
    server.stdout.on('data', (text) => {
      output += text;
      if (output.includes('Ready to accept connections')) resolve();
    });
    server.once('close', () => reject(new Error(`redis-server did not start:\n${output}`)));
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    async kill() {
      server.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
