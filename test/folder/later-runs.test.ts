import { copyFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type Folder, folderWith } from '../support/site/folder.ts';
import { exits } from '../support/tools/exits.ts';
import { embed, unzipped, withService } from './folders.ts';

// `inline` in a folder with files of an earlier run.

const { service, run, runs } = await withService();
const inline = (folder: Folder, ...flags: string[]) => runs(folder, ['inline', 'public', ...flags]);

test('files that the generator wrote again are inlined again, and the others are updated', async () => {
  const folder = await folderWith({
    'public/a.html': `<p>${embed(1)}</p>`,
    'public/b.html': embed(2),
    'public/c.html': `<p>${embed(1)}</p>`,
  });
  await inline(folder);
  await folder.write({
    'public/a.html': `<h1>${embed(2)}</h1>`,
    'public/b.html': '<p>plain</p>',
    'public/a.html.gz': gzipSync('something else'),
    'public/c.html.gz': gzipSync('<p><b>one</b></p>'),
  });
  service.put(1, '<i>changed</i>');
  expect(await inline(folder)).toContain('Updated c.html');
  expect(await folder.read('public/a.html')).toBe('<h1>two & more</h1>');
  expect(await folder.read('public/c.html')).toBe('<p><i>changed</i></p>');
  expect(await unzipped(folder, 'public/a.html.gz')).toBe('<h1>two & more</h1>');
  expect(await unzipped(folder, 'public/c.html.gz')).toBe('<p><i>changed</i></p>');
  expect(await runs(folder, ['list'])).toBe('Snippet 2\n    a.html\nSnippet 1\n    c.html\n');
  expect(await runs(folder, ['check'])).toContain('Nothing has changed');
});

test('an embed inside the content of a snippet stays', async () => {
  service.put(1, `<p>Write ${embed(99)}</p>`);
  const folder = await folderWith({ 'public/a.html': embed(1) });
  await inline(folder);
  await inline(folder);
  expect(await folder.read('public/a.html')).toBe(`<p>Write ${embed(99)}</p>`);
});

test('changed rules for HTML, and an added or removed sanitize function, are applied to all files', async () => {
  service.put(1, '<b onclick="go()">one</b>');
  const folder = await folderWith({
    'public/a.html': embed(1),
    'snippets.config.mjs': "export default { sanitize: () => 'sanitized' };",
  });
  await inline(folder);
  expect(await folder.read('public/a.html')).toBe('sanitized');
  await rm(join(folder.directory, 'snippets.config.mjs'));
  await inline(folder);
  expect(await folder.read('public/a.html')).toBe('<b onclick="go()">one</b>');
  await inline(folder, '--scripts', 'strip');
  expect(await folder.read('public/a.html')).toBe('<b >one</b>');
});

test('a command of `refresh --after` that has failed is still pending after the next run', async () => {
  const folder = await folderWith({ 'public/a.html': embed(1) });
  await inline(folder);
  service.put(1, '<b>new</b>');
  await runs(folder, ['refresh', '--after', 'exit 7'], 1);
  await inline(folder);
  expect(await runs(folder, ['refresh', '--after', 'echo RENEWED'])).toContain('RENEWED');
});

test('a failed run does not forget the files of the previous run', async () => {
  const folder = await folderWith({ 'public/a.html': embed(1) });
  await inline(folder);
  await folder.write({ 'public/b.html': embed(404) });
  expect(await runs(folder, ['inline', 'public'], 1)).toContain('[not-found]');
  // The folder contains an embed, so there is nothing to compare.
  await runs(folder, ['check'], 3);
  await folder.write({ 'public/b.html': embed(2) });
  await inline(folder);
  expect(await runs(folder, ['list'])).toBe('Snippet 1\n    a.html\nSnippet 2\n    b.html\n');
});

test.for([
  ['with embeds', false, '<b>one</b>'],
  ['of an earlier run that is up to date', true, '<b>one</b>'],
] as const)(
  'a file %s that a generator writes during a run is left alone, and named',
  async ([, isInlined, content]) => {
    const folder = await folderWith({ 'public/a.html': `<p>${embed(1)}</p>`, 'public/b.html': embed(2) });
    if (isInlined) await inline(folder);
    await folder.write({ 'public/b.html': embed(2) });
    service.put(1, content);
    const before = await folder.files('public');
    const held = service.hold();
    const running = runs(folder, ['inline', 'public'], 1);
    await held.asked();
    await folder.write({ 'public/a.html': `<h1>${embed(1)}</h1>` });
    held.release();
    expect(await running).toContain('a.html was changed while snippets were fetched. Nothing was written.');
    expect(await folder.files('public')).toEqual({ ...before, 'a.html': `<h1>${embed(1)}</h1>` });
  },
);

describe('a file that is no longer in the record is a warning that names it', () => {
  const warning = (names: string) =>
    `Changed or excluded since the last run, and no longer in the record: ${names}.`;

  async function inlined(): Promise<Folder> {
    const folder = await folderWith({
      'public/a.html': `<p>\n${embed(1)}\n</p>`,
      'public/b.html': embed(2),
      'public/plain.html': '<p>plain</p>',
    });
    await inline(folder);
    return folder;
  }

  test('once, if a minifier has changed it, or if it is excluded now', async () => {
    const folder = await inlined();
    await folder.write({ 'public/a.html': '<p><b>one</b></p>' });
    const output = await inline(folder, '--exclude', 'b.html');
    expect(output).toContain(warning('a.html, b.html'));
    expect(await folder.read('public/b.html')).toBe('two & more');
    expect(await runs(folder, ['list'])).toBe('The site shows no snippets.\n');
    expect(await inline(folder, '--exclude', 'b.html')).not.toContain('no longer in the record');
  });

  test('but not if it shows its embeds as examples now, was written again with embeds, or is gone', async () => {
    const examples = await inlined();
    await examples.write({ 'public/a.html': `<p>${embed(1)}</p>` });
    expect(await inline(examples, '--exclude', 'a.html')).not.toContain('no longer in the record');
    const folder = await inlined();
    await folder.write({ 'public/a.html': `<i>${embed(1)}</i>` });
    await rm(join(folder.directory, 'public/b.html'));
    expect(await inline(folder)).not.toContain('no longer in the record');
  });
});

test('a file changed by a later step, with a new embed, keeps its old snippets in the record', async () => {
  const folder = await folderWith({ 'public/a.html': `<p>\n${embed(1)}\n</p>`, 'public/b.html': embed(1) });
  await inline(folder);
  await folder.write({ 'public/a.html': `<p><b>one</b></p>${embed(2)}` });
  for (const _ of ['the first run', 'another run']) {
    await inline(folder);
    expect(await folder.read('public/a.html')).toBe('<p><b>one</b></p>two & more');
    expect(await runs(folder, ['list'])).toBe('Snippet 2\n    a.html\nSnippet 1\n    a.html\n    b.html\n');
    expect(await runs(folder, ['check'])).toContain('Nothing has changed');
  }
  service.put(2, 'three');
  await runs(folder, ['refresh']);
  expect(await folder.read('public/a.html')).toBe('<p><b>one</b></p>three');
  service.put(1, '<i>changed</i>');
  expect(await runs(folder, ['refresh'], 3)).toContain(
    'a.html was changed after a snippet on it was inlined',
  );
  // Another run cannot update it either, until the generator writes it again.
  await inline(folder);
  expect(await runs(folder, ['check'], 10)).toContain('Snippet 1 has changed\n    a.html\n');
  await folder.write({ 'public/a.html': `<p>\n${embed(1)}\n</p>${embed(2)}` });
  await inline(folder);
  expect(await folder.read('public/a.html')).toBe('<p>\n<i>changed</i>\n</p>three');
  expect(await runs(folder, ['check'])).toContain('Nothing has changed');
});

describe('missing snippets:', () => {
  const config = { 'snippets.config.js': "export default { missingKey: 'children' };" };
  const withoutKey = (folder: Folder) => run(folder, ['inline', 'public'], { SNIPPETS_API_KEY: '' });

  test("without a key, missingKey: 'children' shows children and leaves no record", async () => {
    const page = '<p><snippet-embed id="1">child</snippet-embed></p>';
    const folder = await folderWith({ ...config, 'public/index.html': page });
    expect(await exits(0, withoutKey(folder))).toContain('embeds show their children');
    expect(await folder.read('public/index.html')).toBe('<p>child</p>');
    expect(await runs(folder, ['check'], 3)).toContain('No build manifest found');
  });

  test("without a key, missingKey: 'children' does not forget files of an earlier run", async () => {
    const folder = await folderWith({ ...config, 'public/index.html': embed(1) });
    await inline(folder);
    await writeFile(join(folder.directory, 'public/new.html'), embed(2));
    expect(await exits(1, withoutKey(folder))).toContain('SNIPPETS_API_KEY is not set');
    expect(await folder.files('public')).toEqual({ 'index.html': '<b>one</b>', 'new.html': embed(2) });
    await inline(folder);
    expect(await folder.files('public')).toEqual({ 'index.html': '<b>one</b>', 'new.html': 'two & more' });
  });
});

describe('a file of an earlier run under another name', () => {
  const at = (folder: Folder, name: string) => join(folder.directory, 'public', name);
  const inlined = async (files: Record<string, string>) => {
    const folder = await folderWith(files);
    await inline(folder);
    service.put(1, '<i>changed</i>');
    return folder;
  };

  test('is updated if it was moved, also over another one, or copied', async () => {
    const folder = await inlined({
      'public/a.html': `<p>${embed(1)}</p>`,
      'public/b.html': `<h1>${embed(1)}</h1>`,
      'public/c.html': `<h2>${embed(1)}</h2>`,
      'public/d.html': embed(2),
    });
    await rename(at(folder, 'a.html'), at(folder, 'moved.html'));
    await copyFile(at(folder, 'b.html'), at(folder, 'copied.html'));
    await rename(at(folder, 'c.html'), at(folder, 'd.html'));
    expect(await inline(folder)).toContain('Updated moved.html');
    expect(await folder.files('public')).toEqual({
      'moved.html': '<p><i>changed</i></p>',
      'b.html': '<h1><i>changed</i></h1>',
      'copied.html': '<h1><i>changed</i></h1>',
      'd.html': '<h2><i>changed</i></h2>',
    });
    service.put(1, 'last');
    await runs(folder, ['refresh']);
    expect(await folder.read('public/copied.html')).toBe('<h1>last</h1>');
    expect(await folder.read('public/d.html')).toBe('<h2>last</h2>');
  });

  test('stays as it is, with a warning, if it is now of another kind', async () => {
    const folder = await inlined({ 'public/a.html': embed(1), 'public/unrelated.html': '<b>one</b>' });
    await copyFile(at(folder, 'a.html'), at(folder, 'a.txt'));
    expect(await inline(folder)).toContain('no longer in the record: a.txt.');
    expect(await folder.files('public')).toEqual({
      'a.html': '<i>changed</i>',
      'a.txt': '<b>one</b>',
      'unrelated.html': '<b>one</b>',
    });
  });

  test('is a warning if no file has embeds, as after the loss of the record', async () => {
    const folder = await inlined({ 'public/a.html': embed(1) });
    expect(await inline(folder)).not.toContain('No embeds found');
    await rm(join(folder.directory, '.cache'), { recursive: true });
    expect(await inline(folder)).toContain('No embeds found in public. If its pages show snippets');
  });
});

test('a record that was lost is a warning', async () => {
  const folder = await folderWith({ 'public/a.html': embed(1), 'public/b.html': 'plain' });
  expect(await inline(folder)).not.toContain('The record of the last run');
  await rm(join(folder.directory, '.cache/astro-snippets/manifest.public.json'));
  expect(await inline(folder)).toContain(
    'The record of the last run at .cache/astro-snippets/manifest.public.json is missing. Files that were inlined then stay as they are, and are not in the new record',
  );
});

test('linked files and folders are inlined, and a folder that links to itself is read once', async () => {
  const folder = await folderWith({
    'public/a.html': `<p>${embed(1)}</p>`,
    'elsewhere/b.html': `<p>${embed(1)}</p>`,
    'others/c.html': `<p>${embed(1)}</p>`,
  });
  const link = (target: string, name: string) => symlink(target, join(folder.directory, 'public', name));
  await link('../elsewhere/b.html', 'b.html');
  await link('../others', 'others');
  await link('.', 'again');
  await link('nowhere', 'dangling.html');
  await inline(folder);
  for (const name of ['a.html', 'b.html', 'others/c.html']) {
    expect(await folder.read(`public/${name}`), name).toBe('<p><b>one</b></p>');
  }
});
