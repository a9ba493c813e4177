#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

// Compiled code is cached between runs: a poll that starts a process each time would do little but compile.
enableCompileCache?.();
await import('./program.ts');
