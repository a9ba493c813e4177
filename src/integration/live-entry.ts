import { existsSync, readFileSync } from 'node:fs';
import type { AstroConfig } from 'astro';
import type { Plugin } from 'vite';
import { type UserError, userError } from '../failures/errors.ts';

/** Astro's settings, with the flag that versions before 6 have for live collections. */
interface LiveConfig {
  experimental?: { liveContentCollections?: boolean };
}

/** The files in which Astro looks for live collections, in its source folder. */
const liveConfigFiles = ['live.config.mjs', 'live.config.js', 'live.config.mts', 'live.config.ts'];

/** Says what to use instead of `astro-snippets/live` where Astro has no live collections. */
export function liveEntry(config: AstroConfig, astroMajor: number): Plugin {
  return {
    name: 'astro-snippets:live',
    enforce: 'pre',
    resolveId: {
      filter: { id: /^astro-snippets\/live$/ },
      handler(_id, importer = 'A module') {
        if (!hasLiveCollections(config, astroMajor)) throw unsupportedAstro(importer);
      },
    },
  };
}

/**
 * Refuses live collections of snippets that Astro would ignore: without them, it only says on the page that the
 * collection is not a live one.
 *
 * @throws UserError `unsupported-astro`
 */
export function refuseIgnoredCollections(config: AstroConfig, astroMajor: number): void {
  if (hasLiveCollections(config, astroMajor)) return;
  for (const name of liveConfigFiles) {
    const file = new URL(name, config.srcDir);
    if (existsSync(file) && readFileSync(file, 'utf8').includes('astro-snippets/live'))
      throw unsupportedAstro(name);
  }
}

const hasLiveCollections = (config: AstroConfig, astroMajor: number) =>
  astroMajor >= 6 || Boolean((config as LiveConfig).experimental?.liveContentCollections);

function unsupportedAstro(importer: string): UserError {
  return userError(
    'unsupported-astro',
    `${importer} imports astro-snippets/live, whose live collections this version of Astro does not have.`,
  );
}
