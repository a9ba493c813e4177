import type { AstroConfig } from 'astro';
import type { Plugin } from 'vite';
import { userError } from '../failures/errors.ts';

/** Astro's settings, with the flag that versions before 6 have for live collections. */
interface LiveConfig {
  experimental?: { liveContentCollections?: boolean };
}

/** Says what to use instead of `astro-snippets/live` where Astro has no live collections. */
export function liveEntry(config: AstroConfig, astroMajor: number): Plugin {
  const hasLiveCollections = astroMajor >= 6 || (config as LiveConfig).experimental?.liveContentCollections;
  return {
    name: 'astro-snippets:live',
    enforce: 'pre',
    resolveId: {
      filter: { id: /^astro-snippets\/live$/ },
      handler(_id, importer = 'A module') {
        if (hasLiveCollections) return;
        throw userError(
          'unsupported-astro',
          `${importer} imports astro-snippets/live. Its live collections need Astro 6 or later.`,
        );
      },
    },
  };
}
