import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import {
  chmod,
  chown,
  copyFile,
  link,
  mkdir,
  readFile,
  readlink,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { authorityFile } from '../support/service/authority.ts';
import { folderWith } from '../support/site/folder.ts';
import { snippetsCommand } from '../support/site/installation.ts';
import { embed, unzipped, withService } from './folders.ts';

const { service, runs } = await withService();
const bold = (text: string) => `<b>${text}</b>`;

/** A folder with files, and with symbolic links: by their paths, what they lead to. */
async function linkedFolder(files: Record<string, string>, links: Record<string, string>) {
  const folder = await folderWith(files);
  const path = (name: string) => join(folder.directory, name);
  for (const [name, target] of Object.entries(links)) await symlink(target, path(name));
  return {
    ...folder,
    path,
    /** Inlines, then refreshes after a change. @returns what inline said */
    async inlinesAndRefreshes(...argv: string[]) {
      const output = await runs(folder, ['inline', ...argv]);
      for (const text of ['new', 'newer']) {
        service.put(1, bold(text));
        await runs(folder, ['refresh', ...(argv[2] ? ['--output', argv[2]] : ['--output', argv[0] ?? ''])]);
      }
      await runs(folder, ['check', '--output', argv[2] ?? argv[0] ?? '']);
      return output;
    },
  };
}

// Windows has no such links without a privilege.
describe.skipIf(process.platform === 'win32')('inline, in place, with symbolic links', () => {
  test.for([
    ['a file', { 'site/b.html': 'a/index.html' }, ['site/b.html']],
    ['a file, with another extension', { 'site/b.xml': 'a/index.html' }, ['site/b.xml']],
    ['a folder', { 'site/b': 'a' }, ['site/b/index.html']],
    ['folders that contain each other', { 'site/a/up': '..', 'site/d/e': '../a', 'site/a/f': '../d' }, []],
    ['nothing', { 'site/b.html': 'gone.html', 'site/c.html': 'c.html' }, []],
  ] as const)('to %s keeps the links, and writes what they lead to', async ([, links, names]) => {
    const folder = await linkedFolder(
      { 'site/a/index.html': `<p>${embed(1)}</p>`, 'site/d/d.html': embed(2) },
      links,
    );
    expect(await folder.inlinesAndRefreshes('site')).toContain('in 2 embeds on 2 pages');
    for (const name of ['site/a/index.html', ...names]) {
      expect(await folder.read(name), name).toBe(`<p>${bold('newer')}</p>`);
    }
    for (const [name, target] of Object.entries(links)) {
      expect(await readlink(folder.path(name))).toBe(target);
    }
  });

  test('out of the folder writes the files there, and says so once', async () => {
    const files = { 'site/a.html': embed(1), 'other/b.html': embed(1), 'docs/deep/c.html': embed(1) };
    const links = { 'site/b.html': '../other/b.html', 'site/docs': '../docs', 'site/plain.html': '../other' };
    const folder = await linkedFolder(files, links);
    expect(await folder.inlinesAndRefreshes('site')).toContain(
      'Outside of the folder, and written through links: b.html, docs/deep/c.html.',
    );
    for (const name of Object.keys(files)) expect(await folder.read(name)).toBe(bold('newer'));
    for (const [name, target] of Object.entries(links)) {
      expect(await readlink(folder.path(name))).toBe(target);
    }
    expect(await runs(folder, ['inline', 'site'])).not.toContain('Outside');
  });
});

describe.skipIf(process.platform === 'win32')('inline --output with symbolic links', () => {
  const files = {
    'site/a/index.html': `<p>${embed(1)}</p>`,
    'site/plain.html': 'plain',
    'other/b.html': embed(1),
    'docs/deep/c.html': embed(1),
    'docs/deep/c.png': 'picture',
    'media/m.png': 'picture',
  };

  test('keeps those that lead to files of the generator, and makes pages of those that lead to other pages', async () => {
    const folder = await linkedFolder(files, {});
    const links = {
      'a.html': 'a/index.html',
      'absolute.html': folder.path('site/a/index.html'),
      'plain-too.html': folder.path('site/plain.html'),
      en: 'a',
      'b.html': '../other/b.html',
      docs: '../docs',
      media: '../media',
      'gone.html': 'nowhere.html',
      'a/up': '..',
    };
    for (const [name, target] of Object.entries(links)) await symlink(target, folder.path(`site/${name}`));
    const before = await folder.files('site');
    // The output is not beside the folder, so that the text of a relative link would be wrong there.
    const output = 'out/deep/site';
    for (let run = 1; run <= 2; run += 1) await folder.inlinesAndRefreshes('site', '--output', output);

    expect(await folder.files('site')).toEqual(before);
    expect(await folder.read('other/b.html')).toBe(embed(1));
    const page = `<p>${bold('newer')}</p>`;
    for (const name of ['a/index.html', 'a.html', 'absolute.html', 'en/index.html']) {
      expect(await folder.read(`${output}/${name}`), name).toBe(page);
    }
    for (const name of ['b.html', 'docs/deep/c.html']) {
      expect(await folder.read(`${output}/${name}`), name).toBe(bold('newer'));
    }
    for (const name of ['docs/deep/c.png', 'media/m.png']) {
      expect(await folder.read(`${output}/${name}`)).toBe('picture');
    }
    const kept = ['a.html', 'absolute.html', 'plain-too.html', 'en', 'media', 'gone.html', 'a/up'];
    expect(await Promise.all(kept.map((name) => readlink(folder.path(`${output}/${name}`))))).toEqual([
      'a/index.html',
      'a/index.html',
      'plain.html',
      'a',
      folder.path('media'),
      'nowhere.html',
      '..',
    ]);
  });

  test('renews compressed files that are beside a link, not beside the page', async () => {
    const folder = await linkedFolder({ 'site/a.html': embed(1) }, { 'site/b.html': 'a.html' });
    await folder.write({ 'site/b.html.gz': gzipSync(embed(1)) });
    await runs(folder, ['inline', 'site', '--output', 'out']);
    await runs(folder, ['inline', 'site']);
    for (const name of ['out/b.html.gz', 'site/b.html.gz'])
      expect(await unzipped(folder, name)).toBe(bold('one'));
  });

  test('refuses a linked folder of an earlier run that has pages now, and writes nothing', async () => {
    const folder = await linkedFolder(
      { 'site/a.html': embed(1), 'docs/c.html': 'no embed' },
      { 'site/docs': '../docs' },
    );
    await runs(folder, ['inline', 'site', '--output', 'out']);
    await writeFile(folder.path('docs/c.html'), embed(1));
    service.put(1, bold('new'));
    const before = await folder.files();
    expect(await runs(folder, ['inline', 'site', '--output', 'out'], 2)).toContain(
      'out/docs is a link, and the generator now has a folder of that name. Nothing was written.',
    );
    const { 'out/a.html': page, 'docs/c.html': source } = await folder.files();
    expect([page, source]).toEqual([before['out/a.html'], embed(1)]);
  });

  test('refuses an output that a link to a folder above it puts inside of the folder, and makes nothing', async () => {
    const folder = await linkedFolder({ 'site/a.html': embed(1) }, { link: 'site' });
    expect(await runs(folder, ['inline', 'site', '--output', 'link/out'], 2)).toContain(
      'The output folder link/out and site overlap.',
    );
    expect(await folder.files('site')).toEqual({ 'a.html': embed(1) });
  });

  test('refuses a folder in the place of a page or another file, and writes nothing', async () => {
    for (const [name, content] of [
      ['x.html', embed(1)],
      ['x.css', 'a {}'],
    ] as const) {
      const folder = await linkedFolder({ [`site/${name}`]: content, 'site/a.html': embed(1) }, {});
      await mkdir(folder.path(`out/${name}`), { recursive: true });
      expect(await runs(folder, ['inline', 'site', '--output', 'out'], 2)).toContain(
        `out/${name} is a folder, and the generator now has a file of that name.`,
      );
      expect(existsSync(folder.path('out/a.html'))).toBe(false);
    }
  });
});

test('a page that has two names on the disk, by a hard link, has its snippets under both', async () => {
  const folder = await linkedFolder({ 'site/a.html': embed(1), 'cache/a.html': embed(2) }, {});
  await link(folder.path('site/a.html'), folder.path('site/b.html'));
  await link(folder.path('cache/a.html'), folder.path('site/c.html'));
  await folder.inlinesAndRefreshes('site');
  for (const name of ['a', 'b']) expect(await folder.read(`site/${name}.html`)).toBe(bold('newer'));
  // A cache of the generator keeps its embeds.
  expect(await folder.read('site/c.html')).toBe('two & more');
  expect(await folder.read('cache/a.html')).toBe(embed(2));
});

// Other systems have no such names.
test.skipIf(process.platform !== 'linux').for([
  ['a page', 'caf\xe9.html', ['inline', 'site'], 'caf\\xe9.html'],
  ['a folder', 'caf\xe9/', ['inline', 'site'], 'caf\\xe9'],
  ['another file, for another output', 'b\xfcro.png', ['inline', 'site', '--output', 'out'], 'b\\xfcro.png'],
] as const)(
  'the name of %s that is not UTF-8 is shown, and nothing is written',
  async ([, name, argv, shown]) => {
    const folder = await folderWith({ 'site/a.html': embed(1), 'site/de/b.html': 'b' });
    const path = Buffer.from(join(folder.directory, 'site/de', name), 'latin1');
    await (name.endsWith('/') ? mkdir(path) : writeFile(path, 'x'));
    const output = await runs(folder, argv, 2);
    expect(output).toContain(`The name of a file is not UTF-8: de/${shown}. [unusable-output]`);
    expect(await readFile(join(folder.directory, 'site/a.html'), 'utf8')).toBe(embed(1));
    expect(existsSync(join(folder.directory, 'out'))).toBe(false);
  },
);

test('a name that holds the replacement character in UTF-8 is a name like any other', async () => {
  const folder = await folderWith({ 'site/a\ufffd.html': embed(1) });
  await runs(folder, ['inline', 'site']);
  expect(await folder.read('site/a\ufffd.html')).toBe(bold('one'));
});

test.skipIf(process.getuid?.() !== 0)('files keep their owner, group and permissions', async () => {
  const folder = await linkedFolder({ 'site/a.html': embed(1) }, {});
  const path = folder.path('site/a.html');
  await chown(path, 12_345, 54_321);
  await chmod(path, 0o640);
  await folder.inlinesAndRefreshes('site');
  const { uid, gid, mode } = await stat(path);
  expect([uid, gid, mode & 0o777]).toEqual([12_345, 54_321, 0o640]);
  expect(await folder.read('site/a.html')).toBe(bold('newer'));
});

test.skipIf(process.getuid?.() !== 0)('a file whose owner cannot be kept is named once', async () => {
  const names = ['site/a.html', 'site/b.html'];
  const folder = await linkedFolder({ 'site/a.html': embed(1), 'site/b.html': embed(1) }, {});
  for (const name of ['.', 'site']) await chmod(folder.path(name), 0o777);
  for (const name of names) await chown(folder.path(name), 12_345, 54_321);
  await copyFile(authorityFile(), folder.path('authority.pem'));
  const env = { ...service.environment, NODE_EXTRA_CA_CERTS: folder.path('authority.pem') };
  const user = { cwd: folder.directory, env, uid: 65_534, gid: 65_534 };
  const { stderr } = await promisify(execFile)(process.execPath, [snippetsCommand, 'inline', 'site'], user);
  expect(stderr.match(/Owner or group could not be kept.*/g)).toEqual([
    'Owner or group could not be kept, as this user may not set them: a.html, b.html. If a server cannot read these files now, change them back, and run the command as their owner.',
  ]);
});
