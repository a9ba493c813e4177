import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shownWarnings } from '../../failures/failure-warnings.ts';
import type { RecordedImages } from '../../images/site-images.ts';
import { type ChangedSnippet, findChangedSnippets, usesFromManifest } from '../../record/changes.ts';
import { hashOf, type Manifest, toRecordedContent } from '../../record/manifest.ts';
import type { SiteToRefresh } from '../../refresh/site-to-refresh.ts';
import { cacheFolders, type Settings } from '../../settings/settings.ts';
import { type FetcherOptions, SnippetFetcher } from '../../snippets/snippet-fetcher.ts';
import { count } from '../../text/format.ts';
import type { Cli } from '../terminal/terminal.ts';
import { type BuiltProject, type Project, requireRecord } from './open-project.ts';
import { readSettings } from './project-settings.ts';

interface FetchChangesOptions {
  /** Whether a refresh is to write the changes, for which images are downloaded too. */
  forRefresh: boolean;
  /** Whether nothing is written, not even to the cache, as with `refresh --dry-run`. */
  dryRun?: boolean | undefined;
  /** How long to try a service that gives no answer, in milliseconds. @default as long as a build */
  patience?: number | undefined;
}

/** A site on record, with the current content of its snippets, and those that differ from it. */
export interface FetchedChanges extends SiteToRefresh {
  /** The snippets whose current content is not what the site shows, each with the files that show it. */
  changed: ChangedSnippet[];
  /** Warnings about the content of the snippets that have changed. */
  warnings: string[];
}

/** How long a check tries a service that gives no answer, in ms: short, since a check is easily repeated. */
export const checkPatience = 12_000;

/**
 * Fetches all snippets of a site, and finds out which have changed.
 *
 * @throws UserError without a usable record, or if a snippet could not be fetched
 */
export async function fetchChanges(
  cli: Cli,
  project: Project,
  options: FetchChangesOptions,
): Promise<FetchedChanges> {
  const { forRefresh, patience } = options;
  const progress = cli.terminal.openProgress();
  const builtProject = await requireRecord(cli, project, { writes: forRefresh });
  const { cwd, recordFile, manifest } = builtProject;
  const { snippets } = manifest;
  const settings = await readFetchSettings(cli, builtProject, options);
  const displayed = new Set(snippets.map(({ key, content }) => `${content?.hash} ${key}`));
  const fetcher = openFetcher(cli, settings, {
    patience,
    recordedImages: findRecordedImages(manifest, settings.images),
    // Only new content is cached: otherwise each turn of a `watch` would write all contents again.
    isWorthKeeping: ({ key }, content) => !displayed.has(`${hashOf(content)} ${key}`),
  });

  const uses = usesFromManifest(manifest);
  const total = count(uses.length, 'snippet');
  const onSettled = (settled: number) => progress(() => `${settled} of ${total} fetched`);
  try {
    const fetched = await fetcher.fetch(uses, { signal: cli.signal, onSettled });
    const currentContents = snippets.map(({ key }) => {
      const snippet = fetched.get(key);
      return snippet && toRecordedContent(snippet);
    });
    const changed = findChangedSnippets(manifest, currentContents);
    const changedKeys = new Set(changed.map(({ recorded }) => recorded.key));
    const changedUses = uses.filter(({ request }) => changedKeys.has(request.key));
    const warnings = shownWarnings(fetched, changedUses);
    const readImage = (name: string) => fetcher.readImage(name);
    return { cwd, recordFile, manifest, progress, fetched, currentContents, changed, warnings, readImage };
  } finally {
    await fetcher.close();
  }
}

/** The settings of the last build, with the cache folders that this command may use. */
async function readFetchSettings(
  cli: Cli,
  { recordFile, manifest }: BuiltProject,
  { forRefresh, dryRun }: FetchChangesOptions,
): Promise<Settings> {
  const { rules } = manifest;
  const { imageFolder, answerFolder } = cacheFolders(dirname(recordFile));
  // A folder that does not exist means that the build does not cache, so nothing is cached here either.
  const ifExists = (folder = '') => (existsSync(folder) ? folder : undefined);
  return {
    ...(await readSettings(cli, manifest)),
    // With `sanitize`, which only a build can run, pages may show other images than the fetched content has.
    images: forRefresh && !rules.sanitizes ? rules.images : undefined,
    imageFolder: ifExists(imageFolder),
    // A refresh caches what it shows, so that a later build does not go back to older content.
    answerFolder: forRefresh && !dryRun ? ifExists(answerFolder) : undefined,
  };
}

/** Finds the images that need no download: those in the output, and those whose download failed before. */
function findRecordedImages(
  { output, snippets }: Pick<Manifest, 'output' | 'snippets'>,
  images: Settings['images'],
): RecordedImages {
  const assetFolder = images && join(output, images.assets.folder);
  const recordedImages: RecordedImages = new Map();
  for (const { url, copy } of snippets.flatMap(({ content }) => content?.images ?? [])) {
    if (!copy) recordedImages.set(url, { flaw: 'it could not be downloaded before' });
    else if (assetFolder && existsSync(join(assetFolder, copy.file))) recordedImages.set(url, { copy });
  }
  return recordedImages;
}

/** Opens a fetcher that always asks the service. It prints no warnings: commands print what they need. */
export function openFetcher(cli: Cli, settings: Settings, options: Partial<FetcherOptions>): SnippetFetcher {
  return new SnippetFetcher(settings, {
    warn: () => {},
    notify: cli.terminal.printError,
    parts: { clock: cli.clock },
    alwaysAsk: true,
    remember: true,
    ...options,
  });
}
