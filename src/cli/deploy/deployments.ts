import { readFile, rm } from 'node:fs/promises';
import { writeAtomically } from '../../files/write.ts';
import type { Manifest } from '../../record/manifest.ts';
import type { NotWritten } from '../json-output.ts';
import { toShownFile } from '../project/describe-snippets.ts';
import { type Project, readProject } from '../project/open-project.ts';
import type { Cli } from '../terminal/terminal.ts';
import { type ChangedFiles, runWithLists } from './run-command.ts';

/**
 * The contents of `deployed.json`, a file beside the record that says what the command of `--exec` has
 * deployed.
 *
 * The record has the hash of each file that shows snippets, as it is in the output. This file has the hash
 * that was there when the command last succeeded. **A deploy is due** while the two differ, and while a
 * command that has begun has not succeeded.
 *
 * 1. `markForDeploy` notes what is going to change before it changes, so that it is deployed even if the
 *    process ends between.
 * 2. `needsDeploy` compares this file with the record.
 * 3. `deploy` notes that a command has begun, runs it with the files that differ, and notes their hashes if
 *    it succeeds.
 *
 * If there is no such file, `--exec` was never used, and the output of the record counts as deployed.
 */
interface Deployed {
  /**
   * The `builtAt` of the record; absent if any file may differ from what is deployed, such as after a build.
   */
  builtAt?: string | undefined;
  /**
   * The hashes of files that show snippets, by their paths in the output. An empty one differs from every
   * file.
   */
  files: Record<string, string>;
  /** Whether a command has begun, and has not succeeded since. */
  hasBegun?: true;
}

/** How a project differs from what was deployed of it. */
interface DeployComparison {
  deployed: Deployed;
  /** The contents of the file if a command succeeds now. */
  current: Deployed;
  /** The files that differ, also those that are gone; `undefined` if any file may. */
  changedFiles: ChangedFiles;
}

/** Listed among what was not updated while the command of `refresh --after` has not succeeded. */
export const refreshPending: NotWritten = {
  name: 'The command of the last refresh --after',
  reason: 'has not succeeded yet',
};

/** Listed among what was not updated while the command of `--exec` has not succeeded. */
export const deployPending: NotWritten = {
  name: 'The last --exec command',
  reason: 'has not succeeded, so the site is still to be deployed',
};

/**
 * Whether the command of `--exec` has to run. Not while what was made from the pages is out of date: that is
 * renewed first.
 */
export async function needsDeploy(project: Project): Promise<boolean> {
  const { manifest } = project;
  if (!manifest || manifest.pending) return false;
  const { deployed, changedFiles } = await compareWithDeployed(project);
  return deployed.hasBegun === true || changedFiles?.length !== 0;
}

/**
 * Has files deployed with the next command of `--exec`, besides those that differ from the record by then.
 *
 * @param changedFiles `undefined` for any file, as after a build. With an empty list, only what differs from
 * now on is due.
 */
export async function markForDeploy(project: Project, changedFiles: ChangedFiles): Promise<void> {
  const { deployed } = await compareWithDeployed(project);
  const marked = Object.fromEntries(changedFiles?.map(({ file }) => [file, '']) ?? []);
  writeDeployed(project.recordFile, {
    ...deployed,
    builtAt: changedFiles && deployed.builtAt,
    files: { ...deployed.files, ...marked },
  });
}

/**
 * Runs the command of `--exec`, and notes what it has deployed if it succeeds. What another process writes
 * while it runs is due afterwards, unless the command has built the site: its own output counts as deployed.
 *
 * @returns the exit status of the command
 */
export async function deploy(cli: Cli, command: string): Promise<number> {
  const project = await readProject(cli);
  const { deployed, current, changedFiles } = await compareWithDeployed(project);
  const begun: Deployed = { ...deployed, hasBegun: true };
  writeDeployed(project.recordFile, begun);

  const status = await runWithLists(cli, command, changedFiles);

  // A build may have left its record elsewhere.
  const { recordFile, manifest } = await readProject(cli);
  if (recordFile !== project.recordFile) await rm(deployedFile(project.recordFile), { force: true });
  if (status !== 0) {
    writeDeployed(recordFile, begun);
  } else if (manifest) {
    const isSameBuild = manifest.builtAt === current.builtAt;
    writeDeployed(recordFile, isSameBuild ? current : toDeployed(manifest));
  } else {
    // There is no record to compare with.
    await rm(deployedFile(recordFile), { force: true });
  }
  return status;
}

async function compareWithDeployed({ recordFile, manifest }: Project): Promise<DeployComparison> {
  const current = toDeployed(manifest);
  const deployed = (await readDeployed(recordFile)) ?? current;
  if (!manifest || manifest.builtAt !== deployed.builtAt) {
    return { deployed, current, changedFiles: undefined };
  }
  const names = Object.keys({ ...deployed.files, ...current.files });
  const differing = names.filter((name) => deployed.files[name] !== current.files[name]);
  return { deployed, current, changedFiles: differing.map((name) => toShownFile(manifest, name)) };
}

function toDeployed(manifest: Manifest | undefined): Deployed {
  const files = manifest?.files.map(({ name, hash }) => [name, hash]) ?? [];
  return { builtAt: manifest?.builtAt, files: Object.fromEntries(files) };
}

/** @returns `undefined` if `--exec` was never used. A damaged file means that nothing was deployed. */
export async function readDeployed(recordFile: string): Promise<Deployed | undefined> {
  try {
    return JSON.parse(await readFile(deployedFile(recordFile), 'utf8'));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : { files: {} };
  }
}

function writeDeployed(recordFile: string, deployed: Deployed) {
  writeAtomically(deployedFile(recordFile), JSON.stringify(deployed));
}

/**
 * The record `manifest.blog.json` has the file `deployed.blog.json`; a record `any.json`,
 * `deployed.any.json`.
 */
function deployedFile(recordFile: string) {
  return recordFile.replace(/(?:manifest)?\.?([^/\\]*)$/, 'deployed.$1');
}
