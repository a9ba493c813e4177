import { readFile, rm } from 'node:fs/promises';
import { writeAtomically } from '../../files/write.ts';
import { shownFile } from '../project/lines.ts';
import { readRecord } from '../project/open-project.ts';
import type { Cli } from '../terminal/cli.ts';
import { type ChangedFiles, runWithLists } from './run-command.ts';

export const refreshPending = {
  name: 'The command of the last refresh --after',
  reason: 'has not succeeded yet',
};

export const deployPending = {
  name: 'The last --exec command',
  reason: 'has not succeeded, so the site is still to be deployed',
};

/** What `--exec` has deployed, in a file beside the record. What differs from the record is due. */
interface Deployed {
  /** Of the record; absent if any file may have changed since. */
  builtAt?: string | undefined;
  /** The hashes of files that show snippets; empty for one that is going to be written. */
  files: Record<string, string>;
  /** Whether a command has begun since, and has not succeeded. */
  hasBegun?: true;
}

const deployedFile = (record: string) => record.replace(/(?:manifest)?\.?([^/\\]*)$/, 'deployed.$1');

/** `undefined` if `--exec` was never used. A damaged file means that nothing was deployed. */
export const readDeployed = (record: string): Promise<Deployed | undefined> =>
  readFile(deployedFile(record), 'utf8')
    .then((text) => JSON.parse(text))
    .catch(({ code }) => (code === 'ENOENT' ? undefined : { files: {} }));

const writeDeployed = (record: string, deployed: Deployed) =>
  writeAtomically(deployedFile(record), JSON.stringify(deployed));

/** Compares what was deployed with the record. Without a file that says it, nothing differs. */
async function compareWithDeployed(cli: Cli) {
  const { file, manifest } = await readRecord(cli);
  const { builtAt, files = [] } = { ...manifest };
  const now: Deployed = { builtAt, files: Object.fromEntries(files.map(({ name, hash }) => [name, hash])) };
  const deployed = (await readDeployed(file)) ?? now;
  const names = Object.keys({ ...deployed.files, ...now.files });
  const differing = names.filter((name) => deployed.files[name] !== now.files[name]);
  const isSameBuild = builtAt === deployed.builtAt;
  /** With files that are gone. After a build, it may be any. */
  const changed = manifest && isSameBuild ? differing.map((name) => shownFile(manifest, name)) : undefined;
  return { file, manifest, now, deployed, changed };
}

/** Nothing is due while what was made from the pages is out of date. */
export async function needsDeploy(cli: Cli): Promise<boolean> {
  const { manifest, deployed, changed } = await compareWithDeployed(cli);
  if (!manifest || manifest.pending) return false;
  return deployed.hasBegun === true || changed?.length !== 0;
}

/** Has more files deployed than are due, even if this process ends before. */
export async function markForDeploy(cli: Cli, changed: ChangedFiles): Promise<void> {
  const { file, deployed } = await compareWithDeployed(cli);
  const files = Object.fromEntries(changed?.map((one) => [one.file, '']) ?? []);
  const builtAt = changed && deployed.builtAt;
  writeDeployed(file, { ...deployed, builtAt, files: { ...deployed.files, ...files } });
}

/** What is written meanwhile is due after it, unless the command is a build. */
export async function deploy(cli: Cli, command: string): Promise<number> {
  const { file, deployed, now: before, changed } = await compareWithDeployed(cli);
  const begun: Deployed = { ...deployed, hasBegun: true };
  writeDeployed(file, begun);
  const status = await runWithLists(cli, command, changed);
  // A build may have left a record elsewhere.
  const { file: fileNow, now } = await compareWithDeployed(cli);
  if (fileNow !== file) await rm(deployedFile(file), { force: true });
  if (status !== 0) writeDeployed(fileNow, begun);
  // Without a record, there is nothing to compare with.
  else if (!now.builtAt) await rm(deployedFile(fileNow), { force: true });
  else writeDeployed(fileNow, now.builtAt === before.builtAt ? before : now);
  return status;
}
