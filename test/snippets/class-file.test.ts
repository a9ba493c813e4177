import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { Run } from '../../src/run.ts';
import { parseOptions } from '../../src/settings/options.ts';

test.for([
  ['build', true],
  ['dev', true],
  ['preview', false],
  ['sync', false],
] as const)('astro %s creates a class file: %s', async ([command, isCreated]) => {
  const root = await mkdtemp(join(tmpdir(), 'snippets-classes-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const run = new Run(parseOptions({ classes: true }));
  run.begin(command);
  await run.configure({ root: pathToFileURL(`${root}/`) } as never, {} as never);
  expect(existsSync(join(root, '.astro/integrations/astro-snippets/classes.html'))).toBe(isCreated);
});
