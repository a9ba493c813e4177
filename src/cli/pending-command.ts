import { randomUUID } from 'node:crypto';
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { type ChangedFiles, mergeChanges } from './changed-files.ts';

// A build renews the record before the command after it, such as a deployment, has succeeded. The record alone would
// then say that nothing has changed, and readers would never see the change. This file lies beside the record until the
// command has succeeded, and outlives a process that is killed. It says what the command is about, since a purge that
// failed has to be told about the same pages again.

/** Whether a command that had to run for this record has not succeeded yet. */
export async function isCommandPending(record: string): Promise<boolean> {
  return access(pendingFile(record)).then(
    () => true,
    () => false,
  );
}

/**
 * Runs a command that has to succeed once. Until it does, {@link isCommandPending} is true, also in later processes, and
 * what it was to be told about is passed on to the next one.
 *
 * @param recordOf returns the record as it is at the time: the command may be a build that leaves the first one.
 * @param run called with what has changed since such a command has last succeeded; returns the exit status.
 * @param found what was found to have changed now; if it is left out, only what is pending is known.
 * @throws if the folder of the record cannot be written to.
 */
export async function runPendingCommand(
  recordOf: () => Promise<string>,
  run: (changed: ChangedFiles) => Promise<number>,
  found?: { changed: ChangedFiles },
): Promise<number> {
  const isPending = await isCommandPending(await recordOf());
  const { changed } = found ?? { changed: isPending ? [] : undefined };
  const { result: status, token } = await whilePending(recordOf, run, changed);
  if (status === 0) await clearPending(await recordOf(), token);
  return status;
}

/**
 * Runs a build whose result has to be deployed: {@link isCommandPending} is true from before it begins, so that what is
 * built is deployed even if this process ends in between. A build may change any file.
 */
export async function buildPending<T>(recordOf: () => Promise<string>, run: () => Promise<T>): Promise<T> {
  return (await whilePending(recordOf, run, undefined)).result;
}

/**
 * Makes {@link isCommandPending} true.
 *
 * @param changed what the command is about, besides what is pending already.
 * @returns what tells this call from others: a command that ends does not clear what a later one has set. And all that is
 * pending now.
 */
export async function markPending(record: string, changed?: ChangedFiles): Promise<Pending> {
  const earlier = await readPending(record);
  const all = earlier === undefined ? changed : mergeChanges(earlier.changed, changed);
  const pending = { token: randomUUID(), changed: all };
  await writePending(record, pending);
  return pending;
}

async function whilePending<T>(
  recordOf: () => Promise<string>,
  run: (changed: ChangedFiles) => Promise<T>,
  changed: ChangedFiles,
): Promise<{ result: T; token: string }> {
  const before = await recordOf();
  const pending = await markPending(before, changed);
  const result = await run(pending.changed);
  const record = await recordOf();
  // A build may have emptied the folder, or left its record elsewhere.
  if (!(await isCommandPending(record))) await writePending(record, pending);
  if (record !== before) await clearPending(before, pending.token);
  return { result, token: pending.token };
}

async function clearPending(record: string, token: string): Promise<void> {
  const pending = await readPending(record);
  if (pending?.token === token) await rm(pendingFile(record), { force: true });
}

const pendingSchema = z.object({
  token: z.string(),
  /** Absent if any file may have changed. */
  changed: z.array(z.object({ file: z.string(), url: z.string() })).optional(),
});

type Pending = { token: string; changed: ChangedFiles };

async function readPending(record: string): Promise<Pending | undefined> {
  const written = await readFile(pendingFile(record), 'utf8').catch(() => undefined);
  if (written === undefined) return undefined;
  try {
    const { token, changed } = pendingSchema.parse(JSON.parse(written));
    return { token, changed };
  } catch {
    // Cut off by a kill, for instance.
    return { token: '', changed: undefined };
  }
}

async function writePending(record: string, pending: Pending): Promise<void> {
  await mkdir(dirname(record), { recursive: true });
  await writeFile(pendingFile(record), JSON.stringify(pending));
}

/** Each record has its own: outputs of one project are deployed by commands of their own. */
function pendingFile(record: string): string {
  return join(dirname(record), `${basename(record, '.json')}.command-pending`);
}
