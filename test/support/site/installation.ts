import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The major version of Astro that builds the tests' sites. */
export const astroVersion = Number(process.env['TEST_ASTRO'] ?? 7) as 5 | 6 | 7;

/** Chooses between values that differ between versions of Astro. */
export function byAstro<T>(values: Readonly<Record<5 | 6 | 7, T>>): T {
  return values[astroVersion];
}

const repository = join(import.meta.dirname, '../../..');
const isOwn = astroVersion === 7;

/** The folder whose `node_modules` has Astro, `astro-snippets` and all else that the tests' sites use. */
export const installation = isOwn ? repository : join(repository, `test/astro-versions/${astroVersion}`);

/**
 * The folder of all sites. It is inside the installation, so that a site finds its packages as any installed
 * site.
 */
export const sitesFolder = join(installation, isOwn ? 'test/.sites' : '.sites');

/** The folder of Astro's package. */
export const astroFolder = join(installation, 'node_modules/astro');

/** The file of Astro's command line. Since Astro 6, the file is in `bin`. */
export const astroCommand = ['bin/astro.mjs', 'astro.js']
  .map((name) => join(astroFolder, name))
  .find((file) => existsSync(file)) as string;

/** The file of our command line, as it was built. */
export const snippetsCommand = join(
  isOwn ? repository : join(installation, 'node_modules/astro-snippets'),
  'dist/cli/main.js',
);
