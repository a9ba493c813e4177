#!/usr/bin/env node
import module from 'node:module';
import { nodeFlaw } from '../client/node-version.ts';

const flaw = nodeFlaw();
if (flaw === undefined) {
  // Compiled code is cached between runs: a poll that starts a process each time would do little but compile.
  module.enableCompileCache?.();
  await import('./program.ts');
} else {
  process.stderr.write(`${flaw}\n`);
  process.exitCode = 1;
}
