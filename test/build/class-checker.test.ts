import { expect, onTestFinished, test } from 'vitest';
import { ClassChecker } from '../../src/build/class-checker.ts';
import { inline } from '../../src/embed/inline.ts';
import { readEmbeds } from '../../src/snippets/file-embeds.ts';
import { createFolder } from '../support/folder.ts';

/** What is said of a page that shows a snippet with the classes `big` and `wide`, next to a sheet that has `big`. */
async function warningsFor(sheet: string, link: string): Promise<string[]> {
  const folder = await createFolder({ [sheet]: '.big { color: red }' });
  onTestFinished(() => folder.remove());
  const checker = new ClassChecker(folder.directory, '/', ['big', 'wide']);
  const bytes = Buffer.from(`<link rel="stylesheet" href="${link}"><snippet-embed id="1"></snippet-embed>`);
  const { embeds } = readEmbeds({ name: 'index.html', bytes, kind: 'html' }, new Map());
  const content = Buffer.from('<p class="big wide">text</p>');
  const inlined = { ...inline(bytes, embeds, () => content), policies: [] };
  checker.add({ file: '', name: 'index.html', kind: 'html' }, inlined, () => ['big', 'wide']);
  return checker.warnings;
}

test.each([
  ['as it is', '/bücher/a.css'],
  ['percent-encoded', '/b%C3%BCcher/a.css'],
  ['as a character reference', '/b&uuml;cher/a.css'],
])('classes are checked in a style sheet whose URL has a letter outside of ASCII, %s', async (_how, link) => {
  expect(await warningsFor('bücher/a.css', link)).toEqual([
    'Snippet 1 has classes that no style sheet of index.html has: wide.',
  ]);
});
