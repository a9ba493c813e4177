import { join, relative, sep } from 'node:path';

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
