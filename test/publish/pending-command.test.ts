import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { isCommandPending, runPendingCommand } from '../../src/cli/pending-command.ts';

let record: string;
const recordOf = async () => record;

beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pending-command-'));
  record = join(folder, 'manifest.json');
  return () => rm(folder, { recursive: true });
});

/** A command that is running until it is told to end with a status. */
async function startPending(): Promise<{ end(status: number): Promise<unknown> }> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const started = Promise.withResolvers<void>();
  const done = runPendingCommand(recordOf, () => {
    started.resolve();
    return promise;
  });
  await started.promise;
  return {
    end(status) {
      resolve(status);
      return done;
    },
  };
}

test('a command is pending while it runs, and until it has succeeded', async () => {
  expect(await isCommandPending(record)).toBe(false);
  await (await startPending()).end(1);
  expect(await isCommandPending(record)).toBe(true);
  const again = await startPending();
  expect(await isCommandPending(record)).toBe(true);
  await again.end(0);
  expect(await isCommandPending(record)).toBe(false);
});

test.for([
  ['the first', 0, 1],
  ['the second', 1, 0],
] as const)(
  'of two commands that run at the same time, the other stays pending when %s succeeds',
  async ([, first, second]) => {
    const commands = [await startPending(), await startPending()] as const;
    await commands[first].end(0);
    if (first === 0) expect(await isCommandPending(record)).toBe(true);
    await commands[second].end(1);
    expect(await isCommandPending(record)).toBe(true);
  },
);
