#!/usr/bin/env node
import module from 'node:module';
import { nodeFlaw } from '../client/node-version.ts';

const flaw = nodeFlaw();
if (flaw === undefined) {
  // Compiled code is cached between runs: a poll that starts a process each time would do little but compile.
  module.enableCompileCache?.();
  const { runProgram } = await import('./program.ts');
  await runProgram();
} else {
  process.stderr.write(`${flaw}\n`);
  process.exitCode = 1;
}
