import { hash } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { contains, pathFrom } from '../files/paths.ts';
import { holderOf } from './lock.ts';
import type { Manifest } from './manifest.ts';

/** Of one output: in Astro's cache directory, or without Astro in `.cache`. */
export function manifestFile({
  cacheDir,
  root,
  outDir,
}: Record<'cacheDir' | 'root' | 'outDir', string>): string {
  const name = pathFrom(root, outDir);
  const parts = ['manifest', ...(name === 'dist' ? [] : [encodeURIComponent(name)])];
  // Projects may share another folder. With a relative path, both can be moved together.
  if (!contains(root, cacheDir)) parts.push(hash('sha256', pathFrom(cacheDir, outDir)).slice(0, 8));
  return join(cacheDir, 'astro-snippets', `${parts.join('.')}.json`);
}

/** Where a project may have caches: its config is not loaded. New ones are in the first folder. */
export function cacheDirsOf(root: string): [own: string, other: string] {
  const [astro, other] = [join(root, 'node_modules/.astro'), join(root, '.cache')];
  const usesAstro = readdirSync(root).some((name) => /^astro\.config\.[cm]?[jt]s$/.test(name));
  return usesAstro ? [astro, other] : [other, astro];
}

/** The manifest of an output folder, or where it would be. */
export function manifestOf(root: string, outDir: string): string {
  const files = cacheDirsOf(root).map((cacheDir) => manifestFile({ cacheDir, root, outDir }));
  return files.find(existsSync) ?? files[0] ?? '';
}

export const listManifests = (root: string): string[] =>
  cacheDirsOf(root).flatMap((dir) => manifestsIn(join(dir, 'astro-snippets')));

/** All manifests in a folder. A running build has none, but a lock. */
export function manifestsIn(folder: string): string[] {
  const records = namesIn(folder).flatMap((name) => {
    const [, record, kind] = /^(manifest(?:\..+)?)\.(json|lock)$/.exec(name) ?? [];
    const isThere = kind === 'json' || (kind === 'lock' && holderOf(join(folder, name)));
    return isThere ? join(folder, `${record}.json`) : [];
  });
  return [...new Set(records)];
}

const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);

const stemOf = (manifest: string) => manifest.replace(/\.json$/, '');

/** Its pack, and those of earlier ones. Several sites may share the folder. */
export function listPacks(manifest: string): string[] {
  const stem = basename(stemOf(manifest));
  const isPack = (name: string) =>
    name.startsWith(stem) && /^\.[0-9a-f]{16}\.pack$/.test(name.slice(stem.length));
  return namesIn(dirname(manifest))
    .filter(isPack)
    .map((name) => join(dirname(manifest), name));
}

export const packFile = (manifest: string, id: string | undefined) => `${stemOf(manifest)}.${id}.pack`;

/** @param record names the pack that stays. */
export function removeOtherPacks(manifest: string, record?: Manifest): void {
  const own = packFile(manifest, record?.pack?.id);
  for (const file of listPacks(manifest)) if (file !== own) rmSync(file, { force: true });
}

/** The lock of an output: beside the manifest, unless Astro empties that folder. */
export function lockFile(manifest: string, outDir: string): string {
  const [beside, elsewhere] = possibleLockFiles(manifest);
  return contains(outDir, manifest) ? elsewhere : beside;
}

/** Where the lock may be, if it is not known what Astro empties. */
export function possibleLockFiles(manifest: string): [beside: string, elsewhere: string] {
  const elsewhere = join(tmpdir(), 'astro-snippets', `${encodeURIComponent(manifest)}.lock`);
  return [`${stemOf(manifest)}.lock`, elsewhere];
}

/** Of the commands of `--exec`, `--build` and `--after`, which may lock the output. It comes back if one empties the folder. */
export const commandLockFile = (manifest: string) => `${possibleLockFiles(manifest)[0]}.command`;
