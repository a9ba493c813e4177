import { expect, test } from 'vitest';
import { listSiteFiles } from '../../src/output/site-files.ts';
import { folderWith } from '../support/site/folder.ts';

const files = [
  'about.html',
  'docs/index.html',
  'docs/deep/intro/index.html',
  'feed.xml',
  'main.js',
  'logo.png',
];

/** The warnings about patterns, without what all of them say. */
async function warningsFor(...patterns: string[]): Promise<string[]> {
  const { directory } = await folderWith(Object.fromEntries(files.map((name) => [name, name])));
  const { warnings } = listSiteFiles([directory], patterns);
  return warnings.map((line) => line.replace(' Patterns are compared with paths in the output folder,', ''));
}

test.for([
  ['docs/**'],
  ['./docs/**'],
  ['**/*.xml'],
  ['main.js'],
  ['docs/**', 'docs/index.html'],
  ['!docs/**'],
  ['{about,none}.html'],
])('the patterns %j match files', async (patterns) => {
  expect(await warningsFor(...patterns)).toEqual([]);
});

test.for<[string, string]>([
  ['docs', '"docs/deep/intro/index.html". Did you mean "docs/**"?'],
  ['/docs/**', '"docs/deep/intro/index.html". Did you mean "docs/**"?'],
  ['dist/docs/*/intro/**', '"docs/deep/intro/index.html". Did you mean "docs/*/intro/**"?'],
  ['about', '"about.html". Did you mean "about.html"?'],
  ['intro/index.html', '"docs/deep/intro/index.html". Did you mean "**/intro/index.html"?'],
  ['src/pages/About.astro', '"about.html".'],
  ['logo.png', '"about.html".'],
])('the pattern %j, which matches no file, is a warning', async ([pattern, rest]) => {
  expect(await warningsFor(pattern, 'feed.xml')).toEqual([
    `exclude: "${pattern}" matches no text file of the output. such as ${rest}`,
  ]);
});
