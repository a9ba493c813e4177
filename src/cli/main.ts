#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

// What the commands are made of is compiled once for all of their runs; a poll that starts a process each time
// would do little else.
enableCompileCache?.();
await import('./program.ts');
