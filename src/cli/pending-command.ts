import { randomUUID } from 'node:crypto';
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

// A build renews the record before the command after it, such as a deployment, has succeeded. The record alone would
// then say that nothing has changed, and readers would never see the change. This file lies beside the record until the
// command has succeeded, and outlives a process that is killed.

/** Whether a command that had to run for this record has not succeeded yet. */
export async function isCommandPending(record: string): Promise<boolean> {
  return access(pendingFile(record)).then(
    () => true,
    () => false,
  );
}

/**
 * Runs a command that has to succeed once. Until it does, {@link isCommandPending} is true, also in later processes.
 *
 * @param recordOf returns the record as it is at the time: the command may be a build that leaves the first one.
 * @param run returns the exit status.
 * @throws if the folder of the record cannot be written to.
 */
export async function runPendingCommand(
  recordOf: () => Promise<string>,
  run: () => Promise<number>,
): Promise<number> {
  const { result: status, token } = await whilePending(recordOf, run);
  if (status === 0) await clearPending(await recordOf(), token);
  return status;
}

/**
 * Runs a build whose result has to be deployed: {@link isCommandPending} is true from before it begins, so that what is
 * built is deployed even if this process ends in between.
 */
export async function buildPending<T>(recordOf: () => Promise<string>, run: () => Promise<T>): Promise<T> {
  return (await whilePending(recordOf, run)).result;
}

/**
 * Makes {@link isCommandPending} true.
 *
 * @returns what tells this call from others. A command that ends does not clear what a later one has set.
 */
export async function markPending(record: string, token: string = randomUUID()): Promise<string> {
  await mkdir(dirname(record), { recursive: true });
  await writeFile(pendingFile(record), token);
  return token;
}

async function whilePending<T>(
  recordOf: () => Promise<string>,
  run: () => Promise<T>,
): Promise<{ result: T; token: string }> {
  const before = await recordOf();
  const token = await markPending(before);
  const result = await run();
  const record = await recordOf();
  // A build may have emptied the folder, or left its record elsewhere.
  if (!(await isCommandPending(record))) await markPending(record, token);
  if (record !== before) await clearPending(before, token);
  return { result, token };
}

async function clearPending(record: string, token: string): Promise<void> {
  const file = pendingFile(record);
  const written = await readFile(file, 'utf8').catch(() => undefined);
  if (written === token) await rm(file, { force: true });
}

/** Each record has its own: outputs of one project are deployed by commands of their own. */
function pendingFile(record: string): string {
  return join(dirname(record), `${basename(record, '.json')}.command-pending`);
}
