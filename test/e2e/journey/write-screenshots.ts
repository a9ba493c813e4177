import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

// Writes the screenshots of the documentation: the journey of a newcomer takes them.
const root = join(import.meta.dirname, '../../..');
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
const { status } = spawnSync(
  process.execPath,
  [
    vitest,
    'run',
    '--config',
    'vitest.e2e.config.ts',
    '--project',
    'e2e',
    'test/e2e/journey/newcomer.test.ts',
    '-t',
    'seen by a reader',
  ],
  {
    cwd: root,
    env: { ...process.env, SCREENSHOTS: join(root, 'docs/images') },
    stdio: 'inherit',
  },
);
process.exitCode = status ?? 1;
