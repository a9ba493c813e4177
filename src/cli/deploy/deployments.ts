import { readFile, rm } from 'node:fs/promises';
import { parseCheckedJson, toCheckedJson } from '../../files/checked-json.ts';
import { hasErrorCode } from '../../files/read.ts';
import { writeAtomically } from '../../files/write.ts';
import type { Manifest } from '../../record/manifest.ts';
import type { CheckOutput, NotWritten, Warning } from '../json-output.ts';
import { toShownFile } from '../project/describe-snippets.ts';
import { recordedWarnings } from '../project/describe-warnings.ts';
import { type Project, readProject } from '../project/open-project.ts';
import type { Cli } from '../terminal/terminal.ts';
import { type ChangedFiles, runWithLists } from './run-command.ts';

/**
 * The contents of `deployed.json`, a file beside the record with what the command of `--exec` has deployed.
 *
 * The record has the hash of each file that shows snippets, as it is in the output. This file has the hash
 * that each file had when the command last succeeded. **A deploy is due** while the two differ, and while a
 * command that has begun has not succeeded.
 *
 * 1. `markForDeploy` notes changes before they are written, so that none is lost if the process ends.
 * 2. `needsDeploy` compares this file with the record.
 * 3. `deploy` notes that a command begins, runs it, and on success notes the hashes of the files.
 *
 * If there is no such file, `--exec` was never used, and the output of the record counts as deployed, unless it
 * was refreshed: nobody knows whether that was deployed.
 */
interface Deployed {
  /** The `builtAt` of the record; absent if any file may differ from what is deployed, as after a build. */
  builtAt?: string | undefined;
  /** The hashes of files that show snippets, by their paths. An empty hash marks a file as not deployed. */
  files: Record<string, string>;
  /** Whether a command has begun, and has not succeeded since. */
  hasBegun?: true;
}

/** Listed by `check` and `refresh` as not updated until the command of `refresh --after` succeeds. */
export const afterNotSucceeded: NotWritten = {
  name: 'The command of the last refresh --after',
  reason: 'has not succeeded yet',
};

/** Listed by `check` as unfinished while the command of `--exec` has not succeeded. */
export const deployPending: NotWritten = {
  name: 'The last --exec command',
  reason: 'has not succeeded, so the site is still to be deployed',
};

/** Whether the command of `--exec` has to run. Never while the command of `--after` has yet to succeed. */
export async function needsDeploy({ recordFile, manifest }: Project): Promise<boolean> {
  if (!manifest || manifest.afterPending) return false;
  const deployed = (await readDeployed(recordFile)) ?? assumeDeployed(manifest);
  return deployed.hasBegun === true || changedSince(deployed, manifest)?.length !== 0;
}

/**
 * Has files deployed with the next command of `--exec`, besides those that differ from the record by then.
 *
 * @param changedFiles `undefined` for any file, as after a build; empty for only what changes from now on
 */
export async function markForDeploy(project: Project, changedFiles: ChangedFiles): Promise<void> {
  const { recordFile, manifest } = project;
  const deployed = (await readDeployed(recordFile)) ?? assumeDeployed(manifest);
  const copies = new Map(manifest?.files.map((file) => [file.name, file.copies ?? []]));
  const names = changedFiles?.flatMap(({ file }) => [file, ...(copies.get(file) ?? [])]);
  const marked = Object.fromEntries(names?.map((name) => [name, '']) ?? []);
  const files = { ...deployed.files, ...marked };
  writeDeployed(recordFile, { ...deployed, builtAt: changedFiles && deployed.builtAt, files });
}

/**
 * Runs the command of `--exec`, and notes what it has deployed if it succeeds. What another process writes
 * meanwhile is to be deployed next. If the command has built the site, the new output counts as deployed.
 *
 * @param found what a check has found, whose contents are not on record yet
 * @returns the exit status of the command
 */
export async function deploy(cli: Cli, command: string, found?: FoundChanges): Promise<number> {
  const project = await readProject(cli);
  const current = toDeployed(project.manifest);
  const deployed = (await readDeployed(project.recordFile)) ?? assumeDeployed(project.manifest);
  const begun: Deployed = { ...deployed, hasBegun: true };
  writeDeployed(project.recordFile, begun);
  const files = changedSince(deployed, project.manifest);
  const warnings = warningsOn(files, project.manifest, found);
  const status = await runWithLists(cli, command, { files, warnings });

  // If the command was a build, the record may now be another file, so it is looked for again.
  const { recordFile, manifest } = await readProject(cli);
  if (recordFile !== project.recordFile) await rm(deployedFile(project.recordFile), { force: true });
  if (status !== 0) {
    writeDeployed(recordFile, begun);
  } else if (manifest) {
    writeDeployed(recordFile, manifest.builtAt === current.builtAt ? current : toDeployed(manifest));
  } else {
    // There is no record to compare with, so the file is removed.
    await rm(deployedFile(recordFile), { force: true });
  }
  return status;
}

/** The files that differ from what was deployed, also those that are gone. */
function changedSince(deployed: Deployed, manifest: Manifest | undefined): ChangedFiles {
  if (!manifest || manifest.builtAt !== deployed.builtAt) return undefined;
  const current = toDeployed(manifest);
  const names = Object.keys({ ...deployed.files, ...current.files });
  const differing = names.filter((name) => deployed.files[name] !== current.files[name]);
  return differing.map((name) => toShownFile(manifest, name));
}

/** The snippets that a check has found changed, and what is wrong with them. */
type FoundChanges = Pick<CheckOutput, 'changed' | 'warnings'>;

/** The warnings about the snippets on changed files: those of a check, and those on record of other snippets. */
function warningsOn(
  files: ChangedFiles,
  manifest: Manifest | undefined,
  { changed, warnings }: FoundChanges = { changed: [], warnings: [] },
): Warning[] {
  const recorded = manifest
    ? recordedWarnings(manifest, files && new Set(files.map(({ file }) => file)))
    : [];
  const hasChanged = ({ id, params }: Warning) =>
    changed.some((snippet) => snippet.id === id && snippet.params === params);
  return [...warnings, ...recorded.filter((warning) => !hasChanged(warning))];
}

function toDeployed(manifest: Manifest | undefined): Deployed {
  const files = manifest?.files.flatMap(({ name, hash, copies = [] }) =>
    [name, ...copies].map((served) => [served, hash] as const),
  );
  return { builtAt: manifest?.builtAt, files: Object.fromEntries(files ?? []) };
}

/** What counts as deployed if `--exec` was never used. */
function assumeDeployed(manifest: Manifest | undefined): Deployed {
  return { ...toDeployed(manifest), ...(manifest?.refreshedAt && { builtAt: undefined }) };
}

const nothingDeployed: Deployed = { files: {} };

/** @returns `undefined` if `--exec` was never used. A damaged file means that nothing was deployed. */
export async function readDeployed(recordFile: string): Promise<Deployed | undefined> {
  try {
    const { document, isWhole } = parseCheckedJson<Deployed>(await readFile(deployedFile(recordFile)));
    return isWhole ? document : nothingDeployed;
  } catch (error) {
    return hasErrorCode(error, 'ENOENT') ? undefined : nothingDeployed;
  }
}

function writeDeployed(recordFile: string, deployed: Deployed) {
  writeAtomically(deployedFile(recordFile), toCheckedJson(deployed));
}

/** `deployed.blog.json` for the record `manifest.blog.json`; `deployed.any.json` for a record `any.json`. */
function deployedFile(recordFile: string) {
  return recordFile.replace(/(?:manifest)?\.?([^/\\]*)$/, 'deployed.$1');
}
