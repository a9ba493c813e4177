import { expect, test } from 'vitest';
import { collectDiffs } from '../../src/record/content-diff.ts';
import type { Manifest } from '../../src/record/manifest.ts';
import { type Place, PlacePacker } from '../../src/record/places.ts';

/** The diff of a snippet that is all of a page. */
function patchOf(before: string, after: string): string | undefined {
  const packer = new PlacePacker();
  const placeOf = (text: string, content: string): Place => {
    const end = Buffer.byteLength(text);
    return { start: 0, end, snippet: 0, content, form: { as: 'html', layers: [] } };
  };
  const places = packer.pack([placeOf(before, 'old')]);
  const manifest = { snippets: [{ id: 1 }], kinds: packer.kinds } as unknown as Manifest;
  const diffs = collectDiffs(manifest);
  diffs.add({
    page: { name: 'index.html', hash: '', places },
    before: Buffer.from(before),
    after: Buffer.from(after),
    next: { hash: '', places: [placeOf(after, 'new')] },
  });
  const [diff, ...others] = diffs.list();
  expect(others).toEqual([]);
  expect(diff).toMatchObject({ pages: ['index.html'] });
  return diff?.patch;
}

const lines = (word: string, count: number) =>
  Array.from({ length: count }, (_, index) => `<p>${word} ${index}</p>\n`).join('');

const header = '--- on the site\n+++ published\n';

test('a line that changes in a long text is shown with the lines around it', () => {
  const before = lines('same', 20_000);
  const after = before.replace('<p>same 10000</p>', '<p>new</p>');
  expect(patchOf(before, after)).toBe(
    `${header}@@ -9999,5 +9999,5 @@\n <p>same 9998</p>\n <p>same 9999</p>\n-<p>same 10000</p>\n+<p>new</p>\n <p>same 10001</p>\n <p>same 10002</p>\n`,
  );
});

test('a text of 400 lines that is written anew is compared', () => {
  const patch = patchOf(lines('old', 400), lines('new', 400));
  expect(patch?.match(/^[-+]<p>/gm)).toHaveLength(800);
});

test.for<[before: string, after: string, said: string]>([
  [lines('old', 4_000), lines('new', 5_000), '4000 lines before, 5000 lines after'],
  [lines('old', 4_000).trimEnd(), lines('new', 5_000).trimEnd(), '4000 lines before, 5000 lines after'],
  ['<p>old</p>', lines('new', 5_000), '1 line before, 5000 lines after'],
  ['', lines('new', 5_000), '0 lines before, 5000 lines after'],
])('texts with too little in common are not compared, and the diff says so: %#', ([before, after, said]) => {
  expect(patchOf(before, after)).toBe(`${header}Too different to compare line by line: ${said}.\n`);
});
