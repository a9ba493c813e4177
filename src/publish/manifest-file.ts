import { join } from 'node:path';

/** Where a project keeps the manifest: in Astro's cache directory, which is never published. */
export function manifestFile(cacheDirectory: string): string {
  return join(cacheDirectory, 'astro-snippets', 'manifest.json');
}
