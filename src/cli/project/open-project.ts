import { existsSync, realpathSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { userError } from '../../failures/errors.ts';
import { contains, shownPath } from '../../files/paths.ts';
import type { Manifest } from '../../record/manifest.ts';
import { type ManifestReading, readManifest } from '../../record/manifest-file.ts';
import { missingNote } from '../../record/missing-note.ts';
import { listManifests, manifestOf, manifestsIn } from '../../record/record-paths.ts';
import { cleanText } from '../../text/clean-text.ts';
import type { Cli } from '../terminal/cli.ts';

/** Where the record of the output folder is or would be, or the only record of the project. */
export function manifestPath({ cwd, manifest, output }: Cli): string {
  if (manifest !== undefined) return resolve(cwd, manifest);
  const outDir = resolve(cwd, output ?? 'dist');
  const own = manifestOf(cwd, outDir);
  const [only, ...others] = listManifests(cwd);
  // During a build, and after one that failed, another record would be misleading.
  const mayBeBuilt = existsSync(missingNote(own)) || (output === undefined && existsSync(outDir));
  return !only || others.length > 0 || mayBeBuilt ? own : only;
}

export async function readRecord(cli: Cli): Promise<ManifestReading & { file: string }> {
  const file = manifestPath(cli);
  return { file, ...(await readManifest(file)) };
}

/**
 * @throws AstroError without a usable record or the folder of `--output`; or if that is a copy of the one on record, which
 * `--manifest` allows for commands that only read.
 */
export async function openProject(cli: Cli, writes = false): Promise<{ file: string; manifest: Manifest }> {
  const { cwd, output } = cli;
  const { file, manifest, flaw } = await readRecord(cli);
  if (!manifest) throw await flawError(cwd, file, flaw);
  if (output === undefined) return { file, manifest };
  await requireFolder(cwd, output, 'The output folder');
  const [passed, built] = [resolve(cwd, output), manifest.output];
  const isChecked = (writes || cli.manifest === undefined) && existsSync(built);
  // A server build has its pages in a folder of the output.
  if (isChecked && !contains(realpathSync(passed), realpathSync(built))) {
    throw userError(
      'unusable-output',
      `The record is about ${shownPath(cwd, built)}, which still exists, and not about ${shownPath(cwd, passed)}.`,
      'Run the command without --output and copy the folder again, or build with --outDir, which makes another record.',
    );
  }
  // Only the output has moved: a build still empties `outDir`.
  return { file, manifest: { ...manifest, output: passed } };
}

async function flawError(cwd: string, file: string, flaw: string) {
  const refuse = (message: string, hint?: string) => userError('missing-manifest', message, hint);
  if (flaw !== 'is missing') return refuse(`The build manifest at ${file} ${flaw}.`, 'Build the site once.');
  const why = await readFile(missingNote(file), 'utf8').catch(() => '');
  if (why) return refuse(`${why} There is no record at ${file}.`, 'Build again.');
  const message = `No build manifest found at ${file}.`;
  const others: string[] = [];
  for (const record of manifestsIn(dirname(file))) {
    const { manifest } = await readManifest(record);
    if (manifest) others.push(`${shownPath(cwd, manifest.output)} (${shownPath(cwd, record)})`);
  }
  if (others.length === 0) return refuse(message);
  const hint =
    'Build the site once, or name the folder of another build with --output. If that folder was moved or copied, also pass its record to --manifest.';
  return refuse(`${message} Other records: ${others.join(', ')}.`, hint);
}

export async function requireFolder(cwd: string, folder: string, name: string, hint?: string): Promise<void> {
  const stats = await stat(resolve(cwd, folder)).catch(() => undefined);
  if (stats?.isDirectory()) return;
  const problem = stats ? 'is not a folder' : 'does not exist';
  throw userError('missing-output', `${name} ${cleanText(folder)} ${problem}.`, hint);
}
