import { existsSync, realpathSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { cleanText } from '../client/text.ts';
import { userError } from '../failures/errors.ts';
import { contains, shownPath } from '../files/paths.ts';
import { type Manifest, readManifest } from '../record/manifest.ts';
import { listManifests, manifestOf, manifestsIn, missingNote } from '../record/manifest-file.ts';
import { parseOptions } from '../settings/options.ts';
import { readEnvironment, resolveSettings, variables } from '../settings/settings.ts';
import type { Cli } from './terminal.ts';

/** Where the record of the output folder is or would be. Without one, it is the only record of the project. */
export function manifestPath({ cwd, manifest, output }: Cli) {
  if (manifest !== undefined) return resolve(cwd, manifest);
  const outDir = resolve(cwd, output ?? 'dist');
  const own = manifestOf(cwd, outDir);
  const [only, ...others] = listManifests(cwd);
  // During a build, and after one that failed, there is no record, and another one would be misleading.
  const mayBeBuilt = existsSync(missingNote(own)) || (output === undefined && existsSync(outDir));
  return only === undefined || others.length > 0 || mayBeBuilt ? own : only;
}

/** The record of the last build; or a flaw, if it cannot be used. */
export async function readRecord(cli: Cli) {
  const file = manifestPath(cli);
  return { file, ...(await readManifest(file)) };
}

/**
 * @throws AstroError if there is no usable record, or no folder of `--output`; or if that is a copy of the one on record,
 * which `--manifest` allows for commands that only read.
 */
export async function openProject(cli: Cli, writes = false) {
  const { cwd, output } = cli;
  const { file, manifest, flaw } = await readRecord(cli);
  if (manifest === undefined) throw await flawError(cwd, file, flaw);
  if (output === undefined) return { file, manifest };
  await requireFolder(cwd, output, 'The output folder');
  const [passed, built] = [resolve(cwd, output), manifest.output];
  const isChecked = (writes || cli.manifest === undefined) && existsSync(built);
  // A server build has its pages in a folder of the output.
  if (isChecked && !contains(realpathSync(passed), realpathSync(built))) {
    const message = `The record is about ${shownPath(cwd, built)}, which still exists, and not about ${shownPath(cwd, passed)}.`;
    const hint =
      'Run the command without --output and copy the folder again, or build with --outDir, which makes another record.';
    throw userError('unusable-output', message, hint);
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

export async function requireFolder(cwd: string, folder: string, name: string, hint?: string) {
  const stats = await stat(resolve(cwd, folder)).catch(() => undefined);
  if (stats?.isDirectory()) return;
  const problem = stats === undefined ? 'does not exist' : 'is not a folder';
  throw userError('missing-output', `${name} ${cleanText(folder)} ${problem}.`, hint);
}

/**
 * Those of the last build, without the Astro config. The key comes from the environment, as do base URLs that were not
 * options: a service may have moved.
 */
export async function readSettings(cli: Cli, manifest: Manifest | undefined) {
  const environment = await readVariables(cli, manifest);
  if (manifest === undefined) return resolveSettings(parseOptions({}), environment);
  const { urlOptions, renderBaseUrl, retrieveBaseUrl, ...recorded } = manifest.settings;
  const urls = Object.fromEntries(urlOptions.map((name) => [name, manifest.settings[name]]));
  const settings = resolveSettings(parseOptions(urls), {
    [variables.renderBaseUrl]: renderBaseUrl,
    [variables.retrieveBaseUrl]: retrieveBaseUrl,
    ...environment,
  });
  const { sanitizes, editLinks, images, ...rules } = manifest.rules;
  // `sanitize` cannot be recorded. The other rules are about sanitized content.
  return { ...settings, ...recorded, ...(sanitizes ? {} : rules) };
}

/** Read as the last build did, or without one as a build without `--mode` would. */
export function readVariables(cli: Cli, manifest?: Manifest) {
  const { mode = 'production', directory = '' } = { ...manifest?.environment };
  const folder = directory !== false && resolve(cli.cwd, directory);
  return readEnvironment({ mode, directory: folder }, cli);
}
