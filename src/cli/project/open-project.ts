import { existsSync, realpathSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { userError } from '../../failures/errors.ts';
import { contains, shownPath } from '../../files/paths.ts';
import type { Manifest } from '../../record/manifest.ts';
import { type ManifestFlaw, readManifest } from '../../record/manifest-file.ts';
import { listManifests, manifestOf, manifestsIn, missingNote } from '../../record/record-paths.ts';
import { cleanText } from '../../text/clean-text.ts';
import type { Cli } from '../terminal/terminal.ts';

interface ProjectPaths {
  /** The folder that the command runs in. Paths of the command line are relative to it. */
  cwd: string;
  /** The file of the record, whether or not it exists. */
  recordFile: string;
}

/** A project with a usable record of a build. */
export interface BuiltProject extends ProjectPaths {
  manifest: Manifest;
  flaw?: undefined;
}

/** A project without a usable record. */
export interface UnbuiltProject extends ProjectPaths {
  manifest?: undefined;
  /** Why the record cannot be used, as the end of a sentence that begins with the path of the record. */
  flaw: ManifestFlaw;
}

/** A project as {@link readProject} found it. It does not change when another process writes the record. */
export type Project = BuiltProject | UnbuiltProject;

/**
 * Finds the record that a command is about: the one of `--manifest`, or else that of the output folder; or
 * the only record of the project, if the output folder was never built. The answer changes with the files of
 * the project: a command that has to stay with one record asks once.
 *
 * @throws UserError if nothing names an output, and another one than `dist` was built later: the config may
 * have another `outDir` now
 */
export async function findRecord(cli: Pick<Cli, 'cwd' | 'manifest' | 'output'>): Promise<string> {
  const { cwd, manifest, output } = cli;
  if (manifest !== undefined) return resolve(cwd, manifest);

  const outDir = resolve(cwd, output ?? 'dist');
  const ownRecord = manifestOf(cwd, outDir);
  const [onlyRecord, ...otherRecords] = listManifests(cwd);
  if (!onlyRecord) return ownRecord;
  if (otherRecords.length > 0) return output === undefined ? requireLatest(cwd, ownRecord) : ownRecord;

  // During a build or after a failed one, the record of another output would mislead, so it is not taken.
  const wasBuilt = existsSync(missingNote(ownRecord)) || (output === undefined && existsSync(outDir));
  return wasBuilt ? ownRecord : onlyRecord;
}

/**
 * Makes sure that no other record is of a later build, of an output that is still there. If the own output is
 * gone, the later record takes its place.
 */
async function requireLatest(cwd: string, ownRecord: string): Promise<string> {
  const { manifest: own } = await readManifest(ownRecord);
  if (!own) return ownRecord;
  const isGone = !existsSync(own.output);
  const later: { record: string; output: string }[] = [];
  for (const record of listManifests(cwd)) {
    const { manifest } = await readManifest(record);
    if (!manifest || manifest.builtAt <= own.builtAt) continue;
    if (isGone || existsSync(manifest.output)) later.push({ record, output: manifest.output });
  }
  const [laterRecord, ...others] = later;
  if (!laterRecord) return ownRecord;
  if (isGone && others.length === 0) return laterRecord.record;
  const outputs = later.map(({ output }) => shownPath(cwd, output)).join(', ');
  throw userError(
    'missing-manifest',
    `The last build did not write ${shownPath(cwd, own.output)}. Built later: ${outputs}.`,
    `Name the folder with --output. If ${shownPath(cwd, own.output)} is no longer built, delete it.`,
  );
}

/**
 * Finds and reads the record of a project. A command calls this again after anything that may have changed
 * the record or left one elsewhere: a wait for another process, or a build.
 */
export async function readProject(cli: Cli): Promise<Project> {
  const recordFile = await findRecord(cli);
  return { cwd: cli.cwd, recordFile, ...(await readManifest(recordFile)) };
}

/** Reads a project for a command that only reads, and needs a record. @throws as {@link requireRecord} */
export async function openProject(cli: Cli): Promise<BuiltProject> {
  return requireRecord(cli, await readProject(cli), { writes: false });
}

/**
 * Makes sure that a command can work with a project.
 *
 * @param options whether the command `writes` to the output, and not only reads
 * @returns the project with the output where it is now: in the folder of `--output`, if that is given
 * @throws UserError without a usable record or the folder of `--output`; or if that folder is a copy of the
 * output on record, which `--manifest` allows for commands that only read
 */
export async function requireRecord(
  { manifest, output }: Pick<Cli, 'manifest' | 'output'>,
  project: Project,
  { writes }: { writes: boolean },
): Promise<BuiltProject> {
  const { cwd } = project;
  if (!project.manifest) throw await missingRecordError(project);
  if (output === undefined) return project;

  await requireFolder(cwd, output, 'The output folder');
  const passedOutput = resolve(cwd, output);
  const recordedOutput = project.manifest.output;
  const mustBeOutput = (writes || manifest === undefined) && existsSync(recordedOutput);
  // A server build has its pages in a folder within the output, and the record names that inner folder.
  if (mustBeOutput && !contains(realpathSync(passedOutput), realpathSync(recordedOutput))) {
    throw userError(
      'unusable-output',
      `The record is about ${shownPath(cwd, recordedOutput)}, which still exists, and not about ${shownPath(cwd, passedOutput)}.`,
      'Run the command without --output and copy the folder again, or build with --outDir, which makes another record.',
    );
  }
  return { ...project, manifest: { ...project.manifest, output: passedOutput } };
}

/** The error for a project without a usable record, with what is known about why. */
async function missingRecordError({ cwd, recordFile, flaw }: UnbuiltProject) {
  const missing = (message: string, hint?: string) => userError('missing-manifest', message, hint);
  const unusable = `The build manifest at ${recordFile} ${flaw}.`;
  if (flaw !== 'is missing') return missing(unusable, 'Build the site once.');
  const reason = await readFile(missingNote(recordFile), 'utf8').catch(() => '');
  if (reason) return missing(`${reason} There is no record at ${recordFile}.`, 'Build again.');

  const message = `No build manifest found at ${recordFile}.`;
  const otherRecords: string[] = [];
  for (const record of manifestsIn(dirname(recordFile))) {
    const { manifest } = await readManifest(record);
    if (manifest) otherRecords.push(`${shownPath(cwd, manifest.output)} (${shownPath(cwd, record)})`);
  }
  if (otherRecords.length === 0) return missing(message);
  const hint =
    'Build the site once, or name the folder of another build with --output. If that folder was moved or copied, also pass its record to --manifest.';
  return missing(`${message} Other records: ${otherRecords.join(', ')}.`, hint);
}

/** Checks that a folder exists. @throws UserError whose message begins with `name`, if there is none */
export async function requireFolder(cwd: string, folder: string, name: string, hint?: string): Promise<void> {
  const stats = await stat(resolve(cwd, folder)).catch(() => undefined);
  if (stats?.isDirectory()) return;
  const problem = stats ? 'is not a folder' : 'does not exist';
  throw userError('missing-output', `${name} ${cleanText(folder)} ${problem}.`, hint);
}
