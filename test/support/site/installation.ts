import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder in test/astro-versions that has Astro, such as `5.0`. Without one, the repository's own Astro is used. */
const installedVersion = process.env['TEST_ASTRO'];

/** The major version of Astro that builds the tests' sites. */
export const astroVersion = Number.parseInt(installedVersion ?? '7', 10) as 5 | 6 | 7;

/** Chooses between values that differ between versions of Astro. */
export function byAstro<T>(values: Readonly<Record<5 | 6 | 7, T>>): T {
  return values[astroVersion];
}

const repository = join(import.meta.dirname, '../../..');
const isOwn = installedVersion === undefined;

/** The folder whose `node_modules` has Astro, `astro-snippets` and all else that the tests' sites use. */
export const installation = isOwn ? repository : join(repository, `test/astro-versions/${installedVersion}`);

/**
 * The folder of all sites. It is inside the installation, so that a site finds its packages as any installed
 * site.
 */
export const sitesFolder = join(installation, isOwn ? 'test/.sites' : '.sites');

/** The folder of Astro's package. */
export const astroFolder = join(installation, 'node_modules/astro');

/** The whole version of that Astro, such as `5.0.0`. */
export const astroRelease: string = JSON.parse(
  readFileSync(join(astroFolder, 'package.json'), 'utf8'),
).version;

/** Whether that Astro is the first version of its major. */
export const isFirstOfMajor: boolean = astroRelease.endsWith('.0.0');

/**
 * Why a test has to be left out with this Astro; `undefined` if it can run. `context.skip` prints the reason.
 *
 * @param what something of Astro or of a package for it
 * @param since a version of Astro that has it
 */
export function lacks(what: string, since: string): string | undefined {
  const isOlder = astroRelease.localeCompare(since, 'en', { numeric: true }) < 0;
  return isOlder ? `Astro ${astroRelease} has not what Astro ${since} has: ${what}` : undefined;
}

/** The file of Astro's command line. Since Astro 6, the file is in `bin`. */
export const astroCommand = ['bin/astro.mjs', 'astro.js']
  .map((name) => join(astroFolder, name))
  .find((file) => existsSync(file)) as string;

/** The file of our command line, as it was built. */
export const snippetsCommand = join(
  isOwn ? repository : join(installation, 'node_modules/astro-snippets'),
  'dist/cli/main.js',
);
