import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shownWarnings } from '../../failures/failure-warnings.ts';
import type { RecordedImages } from '../../images/site-images.ts';
import {
  type ChangedSnippet,
  type Contents,
  findChangedSnippets,
  usesFromManifest,
} from '../../record/changes.ts';
import { hashOf, type Manifest, toRecordedContent } from '../../record/manifest.ts';
import { cacheFolders, type Settings } from '../../settings/settings.ts';
import { type FetchedSnippets, type FetcherOptions, SnippetFetcher } from '../../snippets/snippet-fetcher.ts';
import { count } from '../../text/format.ts';
import type { Progress } from '../../text/progress.ts';
import type { Cli } from '../terminal/cli.ts';
import { openProject } from './open-project.ts';
import { readSettings } from './project-settings.ts';

export interface RefreshOptions {
  dryRun?: boolean;
  skipModified?: boolean;
  after?: string;
  /** How long to try a service that gives no answer, in milliseconds. @default the build's */
  patience?: number;
}

/** In milliseconds: to fail soon is better than to wait for a service. */
export const checkPatience = 12_000;

export type OpenedChanges = Awaited<ReturnType<typeof openChanges>>;

/** Fetches all snippets, and finds what has changed. @throws AstroError if one could not be fetched. */
export async function openChanges(
  cli: Cli,
  { patience, dryRun }: RefreshOptions,
  isRefresh: boolean,
): Promise<{
  cwd: string;
  file: string;
  manifest: Manifest;
  progress: Progress;
  fetched: FetchedSnippets;
  now: Contents;
  changed: ChangedSnippet[];
  warnings: string[];
  readImage: (name: string) => Promise<Uint8Array<ArrayBufferLike> | undefined>;
}> {
  const { cwd, terminal, signal } = cli;
  const progress = terminal.openProgress();
  const { file, manifest } = await openProject(cli, isRefresh);
  const { rules, snippets } = manifest;
  // Only a build has the sanitizer, which may change what images there are.
  const images = isRefresh && !rules.sanitizes ? rules.images : undefined;
  const assets = images && join(manifest.output, images.assets.folder);
  // Without these folders, the build keeps nothing there.
  const { imageFolder, answerFolder } = cacheFolders(dirname(file));
  const ifKept = (folder = '') => (existsSync(folder) ? folder : undefined);
  const settings = {
    ...(await readSettings(cli, manifest)),
    images,
    imageFolder: ifKept(imageFolder),
    // So that no later build shows older content.
    answerFolder: isRefresh && !dryRun ? ifKept(answerFolder) : undefined,
  };
  // Those of the last build whose files are there.
  const recordedImages: RecordedImages = new Map();
  for (const { url, copy } of snippets.flatMap(({ content }) => content?.images ?? [])) {
    if (!copy) recordedImages.set(url, { flaw: 'it could not be downloaded before' });
    else if (assets && existsSync(join(assets, copy.file))) recordedImages.set(url, { copy });
  }
  const shown = new Set(snippets.map(({ key, content }) => `${content?.hash} ${key}`));
  const fetcher = openFetcher(cli, settings, {
    patience,
    recordedImages,
    // A watch would write all others each time.
    isWorthKeeping: ({ key }, content) => !shown.has(`${hashOf(content)} ${key}`),
  });
  const uses = usesFromManifest(manifest);
  const onSettled = (done: number) => progress(() => `${done} of ${count(uses.length, 'snippet')} fetched`);
  try {
    const fetched = await fetcher.fetch(uses, { signal, onSettled });
    /** As in the manifest; `undefined` for optional snippets that do not exist. */
    const now = snippets.map(({ key }) => {
      const snippet = fetched.get(key);
      return snippet && toRecordedContent(snippet);
    });
    const changed = findChangedSnippets(manifest, now);
    const keys = new Set(changed.map(({ recorded }) => recorded.key));
    const changedUses = uses.filter(({ request }) => keys.has(request.key));
    const warnings = shownWarnings(fetched, changedUses);
    const readImage = (name: string) => fetcher.readImage(name);
    return { cwd, file, manifest, progress, fetched, now, changed, warnings, readImage };
  } finally {
    await fetcher.close();
  }
}

/** Without warnings: commands print those that concern them. */
export const openFetcher = (cli: Cli, settings: Settings, options: Partial<FetcherOptions>): SnippetFetcher =>
  new SnippetFetcher(settings, {
    warn: () => {},
    notify: cli.terminal.printError,
    parts: { clock: cli.clock },
    alwaysAsk: true,
    remember: true,
    ...options,
  });
