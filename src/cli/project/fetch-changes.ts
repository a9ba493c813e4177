import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { flawWarnings } from '../../failures/failure-warnings.ts';
import type { SnippetWarning } from '../../failures/snippet-warning.ts';
import type { RecordedImages } from '../../images/site-images.ts';
import {
  type ChangedSnippet,
  currentLinks,
  findChangedSnippets,
  findEarlierPlaces,
  usesFromManifest,
} from '../../record/changes.ts';
import { hashOf } from '../../record/hash-of.ts';
import { type Manifest, type RecordedSnippet, toRecordedContent } from '../../record/manifest.ts';
import type { SiteToRefresh } from '../../refresh/site-to-refresh.ts';
import { cacheFolders, type Settings } from '../../settings/settings.ts';
import { type FetchedSnippet, type FetcherOptions, SnippetFetcher } from '../../snippets/snippet-fetcher.ts';
import { count } from '../../text/format.ts';
import type { Cli } from '../terminal/terminal.ts';
import { type BuiltProject, type Project, requireRecord } from './open-project.ts';
import { readSettings } from './project-settings.ts';

interface FetchChangesOptions {
  /** Whether a refresh is to write the changes. */
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
  warnings: SnippetWarning[];
  /** Warnings about unchanged snippets whose images may have changed, as their hosts could not be asked. */
  imageWarnings: SnippetWarning[];
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
    recordedImages: findRecordedImages(manifest),
    earlierPlaces: findEarlierPlaces(manifest),
    recordedNames: manifest.names,
    // Only new content is cached: otherwise each turn of a `watch` would write all contents again.
    isWorthKeeping: ({ key }, content) => !displayed.has(`${hashOf(content)} ${key}`),
  });

  const uses = usesFromManifest(manifest);
  const total = count(uses.length, 'snippet');
  const onSettled = (settled: number) => progress(() => `${settled} of ${total} fetched`);
  try {
    const fetched = await fetcher.fetch(uses, { signal: cli.signal, onSettled });
    const linked = currentLinks(manifest, fetched);
    const currentContents = snippets.map((recorded) => {
      const snippet = fetched.get(recorded.key);
      if (!snippet) return undefined;
      const images = shownImages(snippet, recorded, manifest);
      return toRecordedContent({ ...snippet, images }, linked?.[recorded.id]?.name);
    });
    const changed = findChangedSnippets(manifest, currentContents);
    const changedKeys = new Set(changed.map(({ recorded }) => recorded.key));
    const changedUses = uses.filter(({ request }) => changedKeys.has(request.key));
    const withOldImages = uses.filter(({ request: { key } }) => {
      const { images } = fetched.get(key) ?? {};
      return !changedKeys.has(key) && images?.some(({ copy, flaw }) => copy && flaw);
    });
    return {
      cwd,
      recordFile,
      manifest,
      progress,
      fetched,
      linked,
      currentContents,
      changed,
      names: fetcher.names.ofAll(snippets.map(({ id }) => id)),
      // What a site's own function makes of a content is not known here, so its flaws are not known either.
      warnings: manifest.rules.sanitizes ? [] : flawWarnings(fetched, changedUses),
      imageWarnings: flawWarnings(fetched, withOldImages).filter(({ code }) => code === 'image-not-copied'),
      readImage: (name) => fetcher.readImage(name),
    };
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
  const writes = forRefresh && !dryRun;
  const { imageFolder, answerFolder } = cacheFolders(dirname(recordFile));
  // A folder that does not exist means that the build does not cache, so nothing is cached here either.
  const ifExists = (folder = '') => (existsSync(folder) ? folder : undefined);
  return {
    ...(await readSettings(cli, manifest)),
    images: rules.images,
    imageFolder: writes ? ifExists(imageFolder) : undefined,
    // A refresh caches what it shows, so that a later build does not go back to older content.
    answerFolder: writes ? ifExists(answerFolder) : undefined,
  };
}

/**
 * The images of a snippet that pages show. With the option `sanitize`, a function that only a build has, these
 * may be fewer than the content has: those on record.
 */
function shownImages({ images }: FetchedSnippet, { content }: RecordedSnippet, { rules }: Manifest) {
  const recordedUrls = new Set(content?.images?.map(({ url }) => url));
  const shown = images?.filter(({ url }) => !rules.sanitizes || recordedUrls.has(url));
  return shown?.length ? shown : undefined;
}

/** Finds the images on record, and their copies that are still in the output. */
function findRecordedImages({ output, rules, snippets }: Manifest): RecordedImages {
  const assetFolder = join(output, rules.images?.assets.folder ?? '');
  const images = snippets.flatMap(({ content }) => content?.images ?? []);
  return new Map(
    images.map(({ url, copy }) => [url, copy && existsSync(join(assetFolder, copy.file)) ? copy : undefined]),
  );
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
