import { readFile, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { writeAtomically } from '../files/write.ts';
import { type Manifest, readManifest } from '../record/manifest.ts';
import { shownFile } from './output.ts';
import type { ChangedFiles } from './run-command.ts';

/**
 * What a command of `--exec` has last deployed, in a file beside the record: what differs from the record is still to be
 * deployed. A command that fails, or is killed, leaves the difference, so that it runs again.
 */
interface Deployed {
  /** That of the record; absent if any file may have changed since. */
  builtAt?: string | undefined;
  /** The hashes of files that show snippets, by their names; no hash for one that is going to be written. */
  files: Record<string, string>;
  /** Whether a command has begun since, and has not succeeded. */
  hasBegun?: true;
}

function deployedFile(record: string): string {
  return join(dirname(record), basename(record).replace(/^(?:manifest)?\.?/, 'deployed.'));
}

function stateOf(manifest: Manifest | undefined): Deployed {
  const files = manifest?.files.map(({ name, hash }) => [name, hash]) ?? [];
  return { builtAt: manifest?.builtAt, files: Object.fromEntries(files) };
}

async function readDeployed(record: string): Promise<Deployed | undefined> {
  const written = await readFile(deployedFile(record), 'utf8').catch(() => undefined);
  try {
    return written === undefined ? undefined : JSON.parse(written);
  } catch {
    return { files: {} };
  }
}

function write(record: string, deployed: Deployed): void {
  writeAtomically(deployedFile(record), JSON.stringify(deployed));
}

interface Due {
  isDue: boolean;
  hasBegun: boolean;
  /** What differs, with files that are gone. After a build it may be any file. */
  changed: ChangedFiles;
  /** What was deployed: where nothing says so, what is on record. */
  deployed: Deployed;
  now: Deployed;
}

/**
 * Finds out what is still to be deployed. Nothing is without a record, or while what was made from the pages is out of
 * date.
 */
export async function findDue(record: string): Promise<Due> {
  const { manifest } = await readManifest(record);
  const now = stateOf(manifest);
  const deployed = (await readDeployed(record)) ?? now;
  const names = Object.keys({ ...deployed.files, ...now.files });
  const differing = names.filter((name) => deployed.files[name] !== now.files[name]);
  const isBuiltSince = now.builtAt !== deployed.builtAt;
  const hasBegun = deployed.hasBegun === true;
  return {
    isDue: manifest?.pending === undefined && (differing.length > 0 || isBuiltSince || hasBegun),
    hasBegun,
    changed:
      manifest === undefined || isBuiltSince ? undefined : differing.map((name) => shownFile(manifest, name)),
    deployed,
    now,
  };
}

/** Has files deployed, in addition to what is due, even if this process ends before. */
export async function addDue(record: string, changed: ChangedFiles): Promise<void> {
  const { deployed } = await findDue(record);
  const files = Object.fromEntries(changed?.map(({ file }) => [file, '']) ?? []);
  const builtAt = changed === undefined ? undefined : deployed.builtAt;
  write(record, { ...deployed, builtAt, files: { ...deployed.files, ...files } });
}

/**
 * Runs a command that deploys what is due.
 *
 * @param recordOf returns the record as it is at the time: the command may be a build that leaves the first one.
 * @param run returns the exit status.
 * @param options.mayWrite whether it updates pages itself. Otherwise, what somebody else writes meanwhile is due after it.
 */
export async function deploy(
  recordOf: () => Promise<string>,
  run: (changed: ChangedFiles) => Promise<number>,
  { mayWrite }: { mayWrite: boolean },
): Promise<number> {
  const record = await recordOf();
  const { deployed, now: before, changed } = await findDue(record);
  const begun: Deployed = { ...deployed, hasBegun: true };
  write(record, begun);
  const status = await run(changed);
  const { now } = await findDue(await recordOf());
  const isSame = !mayWrite && now.builtAt === before.builtAt;
  await moveTo(recordOf, record, status === 0 ? (isSame ? before : now) : begun);
  // What has no record cannot be compared with what comes after it.
  if (status === 0 && now.builtAt === undefined) await rm(deployedFile(await recordOf()));
  return status;
}

/** Runs a build. It may empty the folder of the record, or leave a record elsewhere. */
export async function keepDeployed<T>(recordOf: () => Promise<string>, build: () => Promise<T>): Promise<T> {
  const record = await recordOf();
  const { deployed } = await findDue(record);
  const result = await build();
  await moveTo(recordOf, record, deployed);
  return result;
}

async function moveTo(recordOf: () => Promise<string>, from: string, deployed: Deployed): Promise<void> {
  const record = await recordOf();
  write(record, deployed);
  if (record !== from) await rm(deployedFile(from), { force: true });
}
