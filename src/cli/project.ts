import { existsSync, realpathSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { cleanText } from '../client/clean-text.ts';
import { count } from '../client/format.ts';
import { type UserError, userError } from '../failures/errors.ts';
import { shownWarnings } from '../failures/report.ts';
import { contains, shownPath } from '../files/paths.ts';
import { imageHref } from '../images/image-file.ts';
import type { RecordedImages } from '../images/site-images.ts';
import {
  byKey,
  contentRecord,
  hashOf,
  type Manifest,
  readManifest,
  shownOn,
  usesOf,
} from '../record/manifest.ts';
import { listManifests, manifestOf, manifestsIn, missingNote } from '../record/manifest-file.ts';
import { type Environment, readEnvironment, variables } from '../settings/environment.ts';
import { parseOptions } from '../settings/options.ts';
import { cacheFolders, type ImageSettings, resolveSettings, type Settings } from '../settings/settings.ts';
import { type FetcherOptions, SnippetFetcher } from '../snippets/fetch-snippets.ts';
import type { CliContext } from './terminal.ts';

/**
 * @throws AstroError if there is no usable record; if the output folder that is passed does not exist, or is a copy of the
 * one that the record is about, which `--manifest` allows for commands that only read.
 */
export async function openProject(context: CliContext, { writes = false } = {}) {
  const { cwd, output } = context;
  const file = manifestPath(context);
  const { manifest, flaw } = await readManifest(file);
  if (manifest === undefined) throw await flawError(context, flaw, file);
  if (output === undefined) return { file, manifest };
  await requireFolder(cwd, output, 'The output folder');
  const [passed, built] = [resolve(cwd, output), manifest.output];
  const isChecked = (writes || context.manifest === undefined) && existsSync(built);
  // A server build writes pages into a folder of the output that is passed.
  if (isChecked && !contains(realpathSync(passed), realpathSync(built))) {
    throw userError(
      'unusable-output',
      `The record is about ${shownPath(cwd, built)}, which still exists, and not about ${shownPath(cwd, passed)}.`,
      'Run the command without --output and copy the folder again, or build with --outDir, which makes another record.',
    );
  }
  // Where the output was moved, a build still empties the folder that the record names.
  return { file, manifest: { ...manifest, output: passed } };
}

async function flawError({ cwd }: CliContext, flaw: string, file: string): Promise<UserError> {
  if (flaw !== 'is missing') {
    return userError('missing-manifest', `The build manifest at ${file} ${flaw}.`, 'Build the site once.');
  }
  const why = await readFile(missingNote(file), 'utf8').catch(() => '');
  if (why) return userError('missing-manifest', `${why} There is no record at ${file}.`, 'Build again.');
  const message = `No build manifest found at ${file}.`;
  const names: string[] = [];
  for (const record of manifestsIn(dirname(file))) {
    const { manifest } = await readManifest(record);
    if (manifest) names.push(`${shownPath(cwd, manifest.output)} (${shownPath(cwd, record)})`);
  }
  if (names.length === 0) return userError('missing-manifest', message);
  const hint =
    'Build the site once, or name the folder of another build with --output. If that folder was moved or copied, also pass its record to --manifest.';
  return userError('missing-manifest', `${message} Other records: ${names.join(', ')}.`, hint);
}

export async function findManifest(context: CliContext): Promise<Manifest | undefined> {
  return (await readManifest(manifestPath(context))).manifest;
}

/**
 * The Astro config is not loaded: the manifest has what the last build knew about the service, and the mode in which it read
 * the environment. The key comes from the environment alone. Base URLs that were options stay as they were; the environment
 * overrides the others, so that a service that has moved can be reached without a build.
 */
export async function readSettings(context: CliContext, manifest: Manifest | undefined): Promise<Settings> {
  const environment = await readVariables(context, manifest);
  if (manifest === undefined) return resolveSettings(parseOptions({}), environment);
  const { urlOptions, renderBaseUrl, retrieveBaseUrl, ...recorded } = manifest.settings;
  const urls = Object.fromEntries(urlOptions.map((name) => [name, manifest.settings[name]]));
  const settings = resolveSettings(parseOptions(urls), {
    [variables.renderBaseUrl]: renderBaseUrl,
    [variables.retrieveBaseUrl]: retrieveBaseUrl,
    ...environment,
  });
  const { sanitizes, editLinks, images, ...rules } = manifest.rules;
  // A function cannot be recorded. The other rules are about sanitized content, so none apply without it.
  return { ...settings, ...recorded, ...(sanitizes ? {} : rules) };
}

/** Reads them where the last build did. Before there is a record, it is where a build without `--mode` does. */
export function readVariables(context: CliContext, manifest?: Manifest): Promise<Environment> {
  const { mode = 'production', directory = '' } = { ...manifest?.environment };
  return readEnvironment(
    { mode, directory: directory !== false && resolve(context.cwd, directory) },
    context,
  );
}

/** Opens the snippets of a command. Its warnings are those of the snippets that it is about. */
export function openCliFetcher(context: CliContext, settings: Settings, options: Partial<FetcherOptions>) {
  return new SnippetFetcher(settings, {
    warn: () => {},
    notify: (line) => context.terminal.printError(line),
    parts: { clock: context.clock },
    alwaysAsk: true,
    remember: true,
    ...options,
  });
}

/** For commands that change nothing: failing soon is better than waiting until a service is back. In milliseconds. */
export const checkPatience = 12_000;

export type OpenedChanges = Awaited<ReturnType<typeof openChanges>>;

/**
 * Fetches every snippet, and finds those that have changed since the build.
 *
 * @param refresh the options of a refresh that is to write them. @throws AstroError if one could not be fetched.
 */
export async function openChanges(context: CliContext, patience?: number, refresh?: { dryRun?: boolean }) {
  const progress = context.terminal.openProgress();
  const { file, manifest } = await openProject(context, { writes: refresh !== undefined });
  // A sanitizer may change which images there are, and only a build has it.
  const images = refresh && !manifest.rules.sanitizes ? manifest.rules.images : undefined;
  // Without these folders, the build keeps no images and no answers there.
  const folders = cacheFolders(dirname(file));
  const ifKept = (folder = '') => (existsSync(folder) ? folder : undefined);
  const settings = {
    ...(await readSettings(context, manifest)),
    images,
    imageFolder: ifKept(folders.imageFolder),
    // Changed snippets are cached for builds, so that none shows what the site has shown before.
    answerFolder: refresh && !refresh.dryRun ? ifKept(folders.answerFolder) : undefined,
  };
  const shown = byKey(manifest.snippets);
  const fetcher = openCliFetcher(context, settings, {
    patience,
    recordedImages: images && recordedImages(manifest, images),
    // A watch would write all others again each time.
    isWorthKeeping: ({ key }, content) => shown.get(key)?.content?.hash !== hashOf(content),
  });
  const readImage = (name: string) => fetcher.readImage(name);
  const uses = usesOf(manifest);
  const onSettled = (done: number) => progress(() => `${done} of ${count(uses.length, 'snippet')} fetched`);
  try {
    const fetched = await fetcher.fetch(uses, { signal: context.signal, onSettled });
    /** As a manifest has it, in its order; `undefined` for optional snippets that do not exist. */
    const now = manifest.snippets.map(({ key }) => {
      const snippet = fetched.get(key);
      return snippet && contentRecord(snippet);
    });
    const changed = shownOn(manifest, now);
    const keys = new Set(changed.map(({ recorded }) => recorded.key));
    const changedUses = uses.filter(({ request }) => keys.has(request.key));
    /** Flaws of changed snippets that do not keep them from being shown. */
    const warnings = shownWarnings(fetched, changedUses);
    return { file, manifest, progress, fetched, now, changed, warnings, readImage };
  } finally {
    await fetcher.close();
  }
}

/** The images of the last build. Those whose files are gone count as unknown. */
function recordedImages({ output, snippets }: Manifest, { assets }: ImageSettings): RecordedImages {
  const folder = join(output, assets.folder);
  const recorded: RecordedImages = new Map();
  const images = snippets.flatMap(({ content }) => content?.images ?? []);
  for (const { url, file, width, height } of images) {
    if (file === undefined || width === undefined || height === undefined) {
      recorded.set(url, { flaw: 'it could not be downloaded before' });
    } else if (existsSync(join(folder, file))) {
      recorded.set(url, { copy: { file, width, height, href: imageHref(assets, file) } });
    }
  }
  return recorded;
}

/** @param name what it is called in a sentence. */
export async function requireFolder(cwd: string, folder: string, name: string, hint?: string): Promise<void> {
  const stats = await stat(resolve(cwd, folder)).catch(() => undefined);
  if (stats?.isDirectory()) return;
  const problem = stats === undefined ? 'does not exist' : 'is not a folder';
  throw userError('missing-output', `${name} ${cleanText(folder)} ${problem}.`, hint);
}

/**
 * Where the record of the last build is, whether or not there is one: each output folder has its own. Where the folder
 * that is named, or else `dist`, has no record, it is the only one of the project.
 */
export function manifestPath({ cwd, manifest, output }: CliContext): string {
  if (manifest !== undefined) return resolve(cwd, manifest);
  const outDir = resolve(cwd, output ?? 'dist');
  const own = manifestOf(cwd, outDir);
  const [only, ...others] = listManifests(cwd);
  // While an output is being built, and after a build that failed, it has no record, and another one would be misleading.
  const mayBeBuilt = existsSync(missingNote(own)) || (output === undefined && existsSync(outDir));
  return only === undefined || others.length > 0 || mayBeBuilt ? own : only;
}
