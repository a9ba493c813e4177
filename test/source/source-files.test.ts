import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { literalRequests } from '../../src/source/literal-requests.ts';
import { readMarkdown } from '../../src/source/markdown-sources.ts';
import { createFolder } from '../support/folder.ts';

test('with the project as srcDir, packages, the output and hidden folders are not searched', async () => {
  const embed = (id: number) => `<snippet-embed id="${id}"></snippet-embed>`;
  const { directory: root, remove } = await createFolder({
    'pages/b.md': embed(1),
    'pages/a.md': embed(2),
    'pages/dist/c.md': embed(3),
    'pages/.well-known/d.md': embed(4),
    'node_modules/package/e.md': embed(5),
    'pages/node_modules/package/f.md': embed(6),
    'dist/g.md': embed(7),
    '.git/h.md': embed(8),
  });
  onTestFinished(remove);
  const folders = { root, srcDir: root, outDir: join(root, 'dist/') };
  const requests = await literalRequests(folders);
  expect(requests.map(({ id }) => id).sort()).toEqual([1, 2, 3, 4]);
  const sources = await readMarkdown(folders);
  expect(sources.map(({ name }) => name)).toEqual([
    'pages/.well-known/d.md',
    'pages/a.md',
    'pages/b.md',
    'pages/dist/c.md',
  ]);
});
