import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { contains, pathFrom, shortName } from '../files/paths.ts';
import { holderOf } from './lock-holder.ts';

interface ManifestPlace {
  /** The folder for caches: Astro's `cacheDir`, or `.cache` in a project without Astro. */
  cacheDir: string;
  /** The project's folder. */
  root: string;
  outDir: string;
}

/**
 * The path of an output's manifest. The other files on record lie beside it, and their names begin the same:
 *
 * - `manifest.json`, of the output `dist`. Other outputs have `manifest.<path>.json`, so that several can be
 *   built side by side; a long path is a hash. In a cache folder outside of the project, which projects may share, a hash follows.
 * - `manifest.json.missing`: why there is no manifest. See {@link missingNote}.
 * - `manifest.<id>.pack`: the pages as they were generated. See {@link packFile}.
 * - `manifest.lock` and `manifest.lock.command`. See {@link lockFile} and {@link commandLockFile}.
 */
export function manifestFile({ cacheDir, root, outDir }: ManifestPlace): string {
  const parts = ['manifest'];
  const output = pathFrom(root, outDir);
  if (output !== 'dist') parts.push(shortName(encodeURIComponent(output)));
  if (!contains(root, cacheDir)) {
    // A relative path is hashed, so that the name stays when both folders are moved together.
    parts.push(hash('sha256', pathFrom(cacheDir, outDir)).slice(0, 8));
  }
  return join(recordFolder(cacheDir), `${parts.join('.')}.json`);
}

const recordFolder = (cacheDir: string) => join(cacheDir, 'astro-snippets');

/** The folders for caches that a project may use. Its config is not loaded. New caches go into the first. */
export function cacheDirsOf(root: string): [own: string, other: string] {
  const astro = join(root, 'node_modules/.astro');
  const other = join(root, '.cache');
  const usesAstro = readdirSync(root).some((name) => /^astro\.config\.[cm]?[jt]s$/.test(name));
  return usesAstro ? [astro, other] : [other, astro];
}

/** The manifest of an output folder: the one that exists, or else where it would be. */
export function manifestOf(root: string, outDir: string): string {
  const [ownCache, otherCache] = cacheDirsOf(root);
  const own = manifestFile({ cacheDir: ownCache, root, outDir });
  const other = manifestFile({ cacheDir: otherCache, root, outDir });
  return !existsSync(own) && existsSync(other) ? other : own;
}

/** All manifests in a project's default cache folders. */
export const listManifests = (root: string): string[] =>
  cacheDirsOf(root).flatMap((cacheDir) => manifestsIn(recordFolder(cacheDir)));

/** All manifests in a folder, and those of running builds, which have only a lock yet. */
export function manifestsIn(folder: string): string[] {
  const manifests = new Set<string>();
  for (const name of namesIn(folder)) {
    const [, stem, extension] = /^(manifest(?:\..+)?)\.(json|lock)$/.exec(name) ?? [];
    if (!stem) continue;
    if (extension === 'json' || holderOf(join(folder, name))) manifests.add(join(folder, `${stem}.json`));
  }
  return [...manifests];
}

/** The path of a pack. Its id lets a new pack be written while the manifest still names the old one. */
export const packFile = (manifest: string, packId: string | undefined): string =>
  `${stemOf(manifest)}.${packId}.pack`;

/** The packs of a manifest and of its predecessors, but not those of other outputs in the folder. */
export function listPacks(manifest: string): string[] {
  const folder = dirname(manifest);
  const stem = basename(stemOf(manifest));
  const isPack = (name: string) =>
    name.startsWith(stem) && /^\.[0-9a-f]{16}\.pack$/.test(name.slice(stem.length));
  const packs = namesIn(folder).filter(isPack);
  return packs.map((name) => join(folder, name));
}

/** Removes the packs of a manifest. @param packId the id of the pack that stays, if any */
export function removeOtherPacks(manifest: string, packId?: string): void {
  const ownPack = packFile(manifest, packId);
  for (const file of listPacks(manifest)) {
    if (file !== ownPack) rmSync(file, { force: true });
  }
}

/** The lock file beside a manifest, one of two that {@link OutputLock} has. */
export const lockFile = (manifest: string): string => `${stemOf(manifest)}.lock`;

/**
 * The lock while commands of `--exec`, `--build` and `--after` run, which may lock the output themselves. If
 * a command empties its folder, the lock is created again.
 */
export const commandLockFile = (manifest: string): string => `${lockFile(manifest)}.command`;

/** The path of a note that says why a manifest is missing, in a sentence that commands print. */
export const missingNote = (manifest: string): string => `${stemOf(manifest)}.json.missing`;

/** Notes why there is no manifest: the given sentence, or the beginning of a failed build's error. */
export function noteMissing(manifest: string, why: string | Error): void {
  const note = typeof why === 'string' ? why : `The last build failed: ${summaryOf(why)}`;
  mkdirSync(dirname(manifest), { recursive: true });
  writeFileSync(missingNote(manifest), note);
}

/** Removes a manifest and its pack (the generated pages), and notes why. */
export function removeManifest(manifest: string, why: string | Error): void {
  rmSync(manifest, { force: true });
  removeOtherPacks(manifest);
  noteMissing(manifest, why);
}

/** The first lines of an error's first two paragraphs: the headline of its report, and the first failure. */
function summaryOf({ message }: Error): string {
  const lines = message.split('\n\n', 2).map((paragraph) => paragraph.split('\n', 1)[0]);
  return lines.filter(Boolean).join(' ').replace(/\.?$/, '.');
}

/** What the names of all files begin with that belong to a manifest. People choose names with `--manifest`. */
const stemOf = (manifest: string) =>
  join(dirname(manifest), shortName(basename(manifest).replace(/\.json$/, '')));

const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);
