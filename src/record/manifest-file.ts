import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { contains, pathFrom } from '../files/paths.ts';
import type { Manifest } from './manifest.ts';
import { holderOf } from './output-lock.ts';

/** Each output has its own manifest: in Astro's cache directory, or without Astro in `.cache`. */
export function manifestFile(folders: Record<'cacheDir' | 'root' | 'outDir', string>): string {
  const { cacheDir, root, outDir } = folders;
  const name = pathFrom(root, outDir);
  const parts = ['manifest', ...(name === 'dist' ? [] : [encodeURIComponent(name)])];
  // Several projects may share another folder. With a relative path, both can be moved together.
  if (!contains(root, cacheDir)) parts.push(hash('sha256', pathFrom(cacheDir, outDir)).slice(0, 8));
  return join(cacheDir, 'astro-snippets', `${parts.join('.')}.json`);
}

/** Where a project may have caches, if its config is not loaded. New ones are in the first folder. */
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

export function listManifests(root: string): string[] {
  return cacheDirsOf(root).flatMap((dir) => manifestsIn(join(dir, 'astro-snippets')));
}

/** All manifests in a folder. A running build has none, but a lock. */
export function manifestsIn(folder: string): string[] {
  const records = namesIn(folder).flatMap((name) => {
    const [, record, kind] = /^(manifest(?:\..+)?)\.(json|lock)$/.exec(name) ?? [];
    const isHeld = kind === 'lock' && holderOf(join(folder, name)) !== undefined;
    return kind === 'json' || isHeld ? join(folder, `${record}.json`) : [];
  });
  return [...new Set(records)];
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function stemOf(manifest: string): string {
  return manifest.replace(/\.json$/, '');
}

/** Its own pack, and those of earlier ones. Several sites may share the folder. */
export function listPacks(manifest: string): string[] {
  const stem = stemOf(manifest);
  return namesIn(dirname(manifest))
    .map((name) => join(dirname(manifest), name))
    .filter((file) => file.startsWith(stem) && /^\.[0-9a-f]{16}\.pack$/.test(file.slice(stem.length)));
}

export function packFile(manifest: string, id: string | undefined): string {
  return `${stemOf(manifest)}.${id}.pack`;
}

/** @param record what names the pack that stays. */
export function removeOtherPacks(manifest: string, record?: Manifest) {
  const own = packFile(manifest, record?.pack?.id);
  for (const file of listPacks(manifest)) if (file !== own) rmSync(file, { force: true });
}

/** A file that says, as a sentence, why there is no manifest. */
export function missingNote(manifest: string): string {
  return `${manifest}.missing`;
}

/** @param why a sentence, or the error of a build. */
export function noteMissing(manifest: string, why: string | Error) {
  mkdirSync(dirname(manifest), { recursive: true });
  const text = typeof why === 'string' ? why : `The last build failed: ${startOf(why)}`;
  writeFileSync(missingNote(manifest), text);
}

/** Removes a manifest and its pages, and notes why. */
export function removeManifest(manifest: string, why: string | Error) {
  rmSync(manifest, { force: true });
  removeOtherPacks(manifest);
  noteMissing(manifest, why);
}

function startOf({ message }: Error): string {
  const lines = message.split('\n\n', 2).map((paragraph) => paragraph.split('\n', 1)[0]);
  const text = lines.filter(Boolean).join(' ');
  return text.endsWith('.') ? text : `${text}.`;
}
