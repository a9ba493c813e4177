#!/usr/bin/env node
import module from 'node:module';
import { nodeFlaw } from '../client/node-version.ts';

const flaw = nodeFlaw();
if (flaw === undefined) {
  // A short command spends most of its time on compiling, so the compiled code is cached. Bun has no such cache.
  module.enableCompileCache?.();
  const { runCli } = await import('./program.ts');
  const { systemClock: clock } = await import('../client/clock.ts');
  const { env, stdout, stderr } = process;
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      // The reader of the output, such as `head`, has ended. `watch` stops then, other commands finish.
      process.emit('SIGPIPE', 'SIGPIPE');
    });
  }
  const host = {
    cwd: process.cwd(),
    env,
    stdin: 'inherit',
    stdout,
    stderr,
    clock,
    signals: process,
  } as const;
  process.exitCode = await runCli(process.argv.slice(2), host);
} else {
  process.stderr.write(`${flaw}\n`);
  process.exitCode = 1;
}
