import { readFile, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { writeAtomically } from '../files/write.ts';
import { type Manifest, readManifest } from '../record/manifest.ts';
import { shownFile } from './output.ts';
import { manifestPath } from './project.ts';
import { type ChangedFiles, runWithLists } from './run-command.ts';
import type { CliContext } from './terminal.ts';

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

/** What was deployed; `undefined` if no command of `--exec` has deployed this record. By a damaged file, nothing was. */
export function readDeployed(record: string): Promise<Deployed | undefined> {
  return readFile(deployedFile(record), 'utf8')
    .then((text) => JSON.parse(text))
    .catch(({ code }) => (code === 'ENOENT' ? undefined : { files: {} }));
}

function write(record: string, deployed: Deployed): void {
  writeAtomically(deployedFile(record), JSON.stringify(deployed));
}

/** Compares what was deployed, or where nothing says so what is on record, with what is on record now. */
async function compare(record: string) {
  const { manifest } = await readManifest(record);
  const now = stateOf(manifest);
  const deployed = (await readDeployed(record)) ?? now;
  const names = Object.keys({ ...deployed.files, ...now.files });
  const differing = names.filter((name) => deployed.files[name] !== now.files[name]);
  const isAny = manifest === undefined || now.builtAt !== deployed.builtAt;
  /** With files that are gone. After a build it may be any file. */
  const changed: ChangedFiles = isAny ? undefined : differing.map((name) => shownFile(manifest, name));
  return { manifest, now, deployed, changed };
}

/** Whether something is to be deployed. Nothing is while what was made from the pages is out of date. */
export async function isDue(record: string): Promise<boolean> {
  const { manifest, deployed, changed } = await compare(record);
  if (manifest === undefined || manifest.pending) return false;
  return deployed.hasBegun === true || changed === undefined || changed.length > 0;
}

/** Has files deployed, in addition to what is due, even if this process ends before. */
export async function addDue(record: string, changed: ChangedFiles): Promise<void> {
  const { deployed } = await compare(record);
  const files = Object.fromEntries(changed?.map(({ file }) => [file, '']) ?? []);
  const builtAt = changed === undefined ? undefined : deployed.builtAt;
  write(record, { ...deployed, builtAt, files: { ...deployed.files, ...files } });
}

/** Runs a command that deploys what is due. What is written meanwhile is due after it, unless the command has built the site. */
export async function deploy(context: CliContext, command: string): Promise<number> {
  const record = manifestPath(context);
  const { deployed, now: before, changed } = await compare(record);
  const begun: Deployed = { ...deployed, hasBegun: true };
  write(record, begun);
  const status = await runWithLists(context, command, changed);
  // If it was a build, it may have emptied the folder of the record, or left a record elsewhere.
  const recordNow = manifestPath(context);
  if (recordNow !== record) await rm(deployedFile(record), { force: true });
  const now = stateOf((await readManifest(recordNow)).manifest);
  if (status !== 0) write(recordNow, begun);
  // What has no record cannot be compared with what comes after it.
  else if (now.builtAt === undefined) await rm(deployedFile(recordNow), { force: true });
  else write(recordNow, now.builtAt === before.builtAt ? before : now);
  return status;
}
