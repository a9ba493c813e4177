import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { entryName, listPlaces } from '../failures/places.ts';
import { OutputVerifier } from '../inlining/verify-output.ts';
import { listSiteFiles } from '../output/site-files.ts';
import { astroPackage } from '../settings/versions.ts';
import type { BuildRun } from './build-run.ts';

/** What to say of files with the API key. */
interface KeyMessage {
  /** Makes the message from the names of the files. */
  describe(names: string): string;
  /** Replaces the hint of the error. */
  hint?: string;
}

/**
 * Fails if the output contains the API key. Caches lose what contains it, too: the next build would publish it from there.
 *
 * @throws UserError that also names the entries of collections with the key
 */
export async function refusePublishedKey(
  { site, session }: BuildRun,
  verifier: OutputVerifier,
  { describe, hint }: KeyMessage,
): Promise<void> {
  const { config, sources } = site;
  const { apiKey } = session.settings;
  if (apiKey === undefined || !verifier.hasFound) return;
  const { root } = sources.folders;
  const cacheFolder = fileURLToPath(config.cacheDir);
  // Astro's data store is no public format: if it cannot be read, the message names the files alone.
  const entries = await entriesWithKey(cacheFolder, root, verifier).catch(() => []);

  for (const folder of [cacheFolder, join(root, '.astro')]) await cleanAstroCache(folder, apiKey);
  await cleanViteCache(resolve(root, config.vite.cacheDir ?? 'node_modules/.vite'), apiKey);
  const source = entries.length === 0 ? '' : ` The key is in ${listPlaces(entries)}.`;
  verifier.refuseKey((names) => describe(names) + source, hint);
}

/** Removes files with the key from a cache of Astro: from what Astro names, as the folder may hold other files. */
async function cleanAstroCache(folder: string, apiKey: string) {
  const contents = ['data-store', 'dist'].map((name) => join(folder, name));
  const verifier = new OutputVerifier(apiKey);
  const storeFile = { file: join(folder, 'data-store.json'), name: 'data-store.json' };
  const stores = existsSync(storeFile.file) ? [storeFile] : [];
  await verifier.checkBinary([...stores, ...filesIn(contents)]);
  verifier.removeKey();
  // An incremental build restores the pages that this file lists.
  if (verifier.hasFound) rmSync(join(folder, 'incremental-build.json'), { force: true });
}

/** Removes dependencies that Vite has bundled if one contains the key. Vite fails if a part of such a folder is missing. */
async function cleanViteCache(folder: string, apiKey: string) {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /^deps(?:_|$)/.test(name)) : [];
  for (const name of names) {
    const verifier = new OutputVerifier(apiKey);
    await verifier.checkBinary(filesIn([join(folder, name)]));
    if (verifier.hasFound) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

const filesIn = (folders: readonly string[]) =>
  Object.values(
    listSiteFiles(
      folders.filter((folder) => existsSync(folder)),
      [],
    ),
  ).flat();

/** Names the entries of collections in Astro's data store that contain the key. */
async function entriesWithKey(
  cacheFolder: string,
  root: string,
  verifier: OutputVerifier,
): Promise<string[]> {
  const { parse } = await loadDevalue(root);
  const names: string[] = [];
  const add = (collection: string, entry: string, value: unknown) => {
    if (verifier.isKeyIn(JSON.stringify(value) ?? '')) names.push(entryName({ collection, entry }));
  };

  const storeFile = join(cacheFolder, 'data-store.json');
  if (existsSync(storeFile)) {
    const collections = parse(readFileSync(storeFile, 'utf8')) as Map<string, Map<string, unknown>>;
    for (const [collection, entries] of collections) {
      for (const [entry, value] of entries) add(collection, entry, value);
    }
  }

  // With `experimental.collectionStorage`, each entry is a line in one of several files.
  const chunkFolder = join(cacheFolder, 'data-store');
  const manifestFile = join(chunkFolder, 'manifest.json');
  if (existsSync(manifestFile)) {
    const manifest: Record<string, string[]> = JSON.parse(readFileSync(manifestFile, 'utf8'));
    for (const [collection, files] of Object.entries(manifest)) {
      const lines = files
        .map((file) => readFileSync(join(chunkFolder, file), 'utf8'))
        .join('')
        .split('\n');
      for (const line of lines.filter((text) => verifier.isKeyIn(text))) {
        add(collection, ...(parse(line) as [string, unknown]));
      }
    }
  }
  return names;
}

/** Loads the library with which the project's own Astro writes its data store. */
async function loadDevalue(root: string): Promise<{ parse(text: string): unknown }> {
  const devalue = createRequire(astroPackage(root) ?? import.meta.url).resolve('devalue');
  return import(pathToFileURL(devalue).href);
}
