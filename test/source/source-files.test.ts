import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { literalRequests } from '../../src/source/literal-requests.ts';
import { readMarkdown } from '../../src/source/markdown-sources.ts';

async function createProject(files: Record<string, string>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'snippets-sources-'));
  onTestFinished(() => rm(root, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
  return root;
}

test('with the project as srcDir, packages, the output and hidden folders are not searched', async () => {
  const embed = (id: number) => `<snippet-embed id="${id}"></snippet-embed>`;
  const root = await createProject({
    'pages/b.md': embed(1),
    'pages/a.md': embed(2),
    'pages/dist/c.md': embed(3),
    'pages/.well-known/d.md': embed(4),
    'node_modules/package/e.md': embed(5),
    'pages/node_modules/package/f.md': embed(6),
    'dist/g.md': embed(7),
    '.git/h.md': embed(8),
  });
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

test('a srcDir that does not exist has no sources', async () => {
  const root = await createProject({});
  const folders = { root, srcDir: join(root, 'src'), outDir: join(root, 'dist') };
  expect(await literalRequests(folders)).toEqual([]);
  expect(await readMarkdown(folders)).toEqual([]);
});
