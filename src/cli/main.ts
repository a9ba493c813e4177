#!/usr/bin/env node
import module from 'node:module';
import { nodeFlaw } from '../client/node-version.ts';

const flaw = nodeFlaw();
if (flaw === undefined) {
  // Compiled code is cached between runs: a poll that starts a process each time would do little but compile.
  module.enableCompileCache?.();
  const { runCli } = await import('./program.ts');
  const { systemClock } = await import('../client/clock.ts');
  // A reader such as `head` has ended. What is under way goes on to its own exit status; a watch ends.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.emit('SIGPIPE', 'SIGPIPE');
    });
  }
  process.exitCode = await runCli(process.argv.slice(2), {
    cwd: process.cwd(),
    env: process.env,
    stdin: 'inherit',
    stdout: process.stdout,
    stderr: process.stderr,
    clock: systemClock,
    signals: process,
  });
} else {
  process.stderr.write(`${flaw}\n`);
  process.exitCode = 1;
}
