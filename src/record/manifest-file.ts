import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { holderOf } from './output-lock.ts';

/** Each output folder has its own manifest: in Astro's cache directory, or without Astro in `.cache`. */
export function manifestFile(folders: Record<'cacheDir' | 'root' | 'outDir', string>): string {
  const { cacheDir, root, outDir } = folders;
  const name = pathFrom(root, outDir);
  const parts = ['manifest', ...(name === 'dist' ? [] : [encodeURIComponent(name)])];
  // Outside of the project, several may share it. With a relative path, both can be moved together.
  if (!contains(root, cacheDir)) parts.push(hash('sha256', pathFrom(cacheDir, outDir)).slice(0, 8));
  return join(cacheDir, 'astro-snippets', `${parts.join('.')}.json`);
}

/** With slashes, on all systems. */
export function pathFrom(folder: string, path: string): string {
  return relative(folder, path).split(sep).join('/');
}

/** Where a project may have caches, as far as can be known without loading a config. New ones are in the first folder. */
export function cacheDirsOf(root: string): [own: string, other: string] {
  const [astro, other] = [join(root, 'node_modules/.astro'), join(root, '.cache')];
  const usesAstro = readdirSync(root).some((name) => /^astro\.config\.[cm]?[jt]s$/.test(name));
  return usesAstro ? [astro, other] : [other, astro];
}

/** The manifest of an output folder: the one that there is, or else where it would be. */
export function manifestOf(root: string, outDir: string): string {
  const [own = '', other = ''] = cacheDirsOf(root).map((cacheDir) =>
    manifestFile({ cacheDir, root, outDir }),
  );
  return existsSync(own) || !existsSync(other) ? own : other;
}

/** Those in the project's own folders. */
export function listManifests(root: string): string[] {
  return cacheDirsOf(root).flatMap((dir) => manifestsIn(join(dir, 'astro-snippets')));
}

/** All manifests in a folder. While a build is running, its own is missing, and its lock is there. */
export function manifestsIn(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const records = names.flatMap((name) => {
    const [, record, kind] = /^(manifest(?:\..+)?)\.(json|lock)$/.exec(name) ?? [];
    const isHeld = kind === 'lock' && holderOf(join(folder, name)) !== undefined;
    return kind === 'json' || isHeld ? join(folder, `${record}.json`) : [];
  });
  return [...new Set(records)];
}

/** A file that says, as a sentence, why there is no manifest. */
export function missingNote(manifest: string): string {
  return `${manifest}.missing`;
}

/** @param why a sentence, or the error with which a build has failed. */
export function noteMissing(manifest: string, why: string | Error): void {
  mkdirSync(dirname(manifest), { recursive: true });
  const text = typeof why === 'string' ? why : `The last build failed: ${startOf(why)}`;
  writeFileSync(missingNote(manifest), text);
}

/** Of a report, what it is about and the first failure. */
function startOf({ message }: Error): string {
  const lines = message.split('\n\n', 2).map((paragraph) => paragraph.split('\n', 1)[0]);
  const text = lines.filter(Boolean).join(' ');
  return text.endsWith('.') ? text : `${text}.`;
}

/** It is beside the manifest, unless that is in the folder that Astro empties. */
export function lockFile(manifest: string, outDir: string): string {
  const [beside, elsewhere] = possibleLockFiles(manifest);
  return contains(outDir, manifest) ? elsewhere : beside;
}

/** Where the lock may be if it is not known what Astro empties, since there is no manifest. */
export function possibleLockFiles(manifest: string): [beside: string, elsewhere: string] {
  return [
    join(dirname(manifest), `${basename(manifest, '.json')}.lock`),
    join(tmpdir(), 'astro-snippets', `${encodeURIComponent(manifest)}.lock`),
  ];
}

/** Whether a path is a folder, or something in it. */
export function contains(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return !isAbsolute(inside) && inside !== '..' && !inside.startsWith(`..${sep}`);
}

/**
 * The lock of the commands of `--exec`, `--build` and `--after`. They may be a build, or a refresh, which take the lock of
 * the output themselves. It is beside the manifest wherever that is: it comes back if a command empties the folder.
 */
export function commandLockFile(manifest: string): string {
  const [beside] = possibleLockFiles(manifest);
  return `${beside}.command`;
}
