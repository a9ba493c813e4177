import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The major version of Astro that sites of tests are built with. */
export const astroVersion = Number(process.env['TEST_ASTRO'] ?? 7) as 5 | 6 | 7;

/** What tests expect where versions of Astro differ: the value for the one that they run with. */
export function byAstro<T>(values: Readonly<Record<5 | 6 | 7, T>>): T {
  return values[astroVersion];
}

const repository = join(import.meta.dirname, '../..');
const isOwn = astroVersion === 7;

/** The folder whose `node_modules` contains Astro, `astro-snippets` and everything that sites of tests use. */
export const installation = isOwn ? repository : join(repository, `test/astro-versions/${astroVersion}`);

/** Inside the installation, so that a site finds `astro` and `astro-snippets` as an installed site would. */
export const sitesFolder = join(installation, isOwn ? 'test/.sites' : '.sites');

/** The package of Astro itself. */
export const astroFolder = join(installation, 'node_modules/astro');

// Since Astro 6, astro.mjs is in a folder.
export const astroCommand = ['bin/astro.mjs', 'astro.js']
  .map((name) => join(astroFolder, name))
  .find((file) => existsSync(file)) as string;

export const snippetsCommand = join(
  isOwn ? repository : join(installation, 'node_modules/astro-snippets'),
  'dist/cli/main.js',
);
