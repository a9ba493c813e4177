import { tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';

/**
 * Each output folder of a project has a manifest of its own. It is in Astro's cache directory, which is never
 * published.
 */
export function manifestFile({
  cacheDir,
  root,
  outDir,
}: Record<'cacheDir' | 'root' | 'outDir', string>): string {
  const name = relative(root, outDir).split(sep).join('/');
  const suffix = name === 'dist' ? '' : `.${encodeURIComponent(name)}`;
  return join(cacheDir, 'astro-snippets', `manifest${suffix}.json`);
}

/**
 * The lock of an output folder is beside its manifest. Astro empties the output, so a cache folder in there cannot
 * hold a lock.
 *
 * @param output `undefined` if it is not known, since there is no manifest.
 */
export function lockFile(manifest: string, output: string | undefined): string {
  const inside = output === undefined ? '..' : relative(output, manifest);
  const isInside = !inside.startsWith('..') && !isAbsolute(inside);
  const folder = isInside ? join(tmpdir(), 'astro-snippets') : dirname(manifest);
  const name = isInside ? encodeURIComponent(manifest) : basename(manifest, '.json');
  return join(folder, `${name}.lock`);
}
