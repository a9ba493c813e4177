import { join } from 'node:path';

/** A project's manifest is in Astro's cache directory, which is never published. */
export function manifestFile(cacheDirectory: string): string {
  return join(cacheDirectory, 'astro-snippets', 'manifest.json');
}
