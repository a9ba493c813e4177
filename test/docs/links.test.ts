import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { expect, test } from 'vitest';
import { anchors, links, pages, readPage } from './pages.ts';

const root = join(import.meta.dirname, '../..');
const decisions = readdirSync(join(root, 'docs/decisions')).map((name) => `docs/decisions/${name}`);
const all = [...pages, ...decisions, 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'llms.txt'];

/** What is wrong with a link of a page. */
function flawOf(page: string, target: string): string | undefined {
  if (/^https:\/\//.test(target)) return undefined;
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : join(dirname(page), path).split(sep).join('/');
  if (!existsSync(join(root, file))) return `${page}: ${target}: there is no such file`;
  if (anchor === undefined) return undefined;
  return anchors(readFileSync(join(root, file), 'utf8')).has(anchor)
    ? undefined
    : `${page}: ${target}: there is no such heading`;
}

test('every link in the docs leads to a file, and to a heading of it', () => {
  const flaws = all.flatMap((page) => links(readPage(page)).map((target) => flawOf(page, target)));
  expect(flaws.length).toBeGreaterThan(100);
  expect(flaws.filter((flaw) => flaw !== undefined)).toEqual([]);
});

test('a link to a file or a heading that does not exist is found', () => {
  expect(flawOf('docs/embeds.md', 'nowhere.md')).toBe('docs/embeds.md: nowhere.md: there is no such file');
  expect(flawOf('docs/embeds.md', '#nowhere')).toBe('docs/embeds.md: #nowhere: there is no such heading');
  expect(flawOf('docs/embeds.md', 'errors.md#not-found')).toBeUndefined();
});

test('the README links to the index, and the index to every page', () => {
  expect(links(readPage('README.md'))).toContain('docs/README.md');
  const linked = new Set(links(readPage('docs/README.md')).map((target) => `docs/${target.split('#')[0]}`));
  const others = pages.filter((page) => !['README.md', 'docs/README.md'].includes(page));
  expect(others.filter((page) => !linked.has(page))).toEqual([]);
});

test('the docs name the tarball of this version', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const named = pages.flatMap((page) => readPage(page).match(/astro-snippets-[\d.]+\.tgz/g) ?? []);
  expect(new Set(named)).toEqual(new Set([`astro-snippets-${version}.tgz`]));
});

/** The paths that a page names as code, with a folder in front: from the root of the repository, or from `src`. */
function pathsIn(page: string): string[] {
  const named = readPage(page).match(/(?<=`|<code>)[\w.-]+\/[\w./-]*(?=`|<\/code>)/g) ?? [];
  return [...new Set(named)];
}

test('every file and folder that CONTRIBUTING.md names is there', () => {
  const paths = pathsIn('CONTRIBUTING.md');
  expect(paths.length).toBeGreaterThan(50);
  const isThere = (path: string) => ['', 'src'].some((folder) => existsSync(join(root, folder, path)));
  expect(paths.filter((path) => !isThere(path))).toEqual([]);
});

test('CONTRIBUTING.md says what each room of `src` does, and in which order rooms import', () => {
  const text = readPage('CONTRIBUTING.md');
  const rooms = readdirSync(join(root, 'src')).filter((name) => name !== 'element.d.ts');
  const table = Array.from(text.matchAll(/^\| `([\w.]+)` \|/gm), ([, room = '']) => room);
  expect(table.toSorted()).toEqual(rooms.toSorted());
  const [order = ''] = /named before it here[\s\S]*?\n\n/.exec(text) ?? [];
  const ordered = Array.from(order.matchAll(/`([\w.]+)`/g), ([, room = '']) => room);
  expect(ordered.filter((room) => rooms.includes(room)).toSorted()).toEqual(rooms.toSorted());
});
