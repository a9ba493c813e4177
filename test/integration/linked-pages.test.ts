import { lstat, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtSite } from '../support/site/built-site.ts';
import { configWith } from '../support/site/site.ts';
import { exits } from '../support/tools/exits.ts';

// Other integrations link pages: before snippets are inlined, and when the build is done.
const links = `{
  name: 'links',
  hooks: {
    'astro:build:generated': async ({ dir }) => {
      const { link, mkdir, symlink, writeFile } = await import('node:fs/promises');
      await symlink('index.html', new URL('home.html', dir));
      await symlink('about', new URL('ueber', dir));
      await link(new URL('about/index.html', dir), new URL('about.html', dir));
      await mkdir(new URL('../shared', dir), { recursive: true });
      await writeFile(new URL('../shared/imprint.html', dir), '<p><snippet-embed id="3"></snippet-embed></p>');
      await symlink('../shared/imprint.html', new URL('imprint.html', dir));
    },
    'astro:build:done': async ({ dir }) => {
      const { link, symlink } = await import('node:fs/promises');
      await symlink('about/index.html', new URL('404.html', dir));
      await link(new URL('index.html', dir), new URL('200.html', dir));
    },
  },
}`;
const page = (embeds: string) => `<html lang="en"><head><title>t</title></head><body>${embeds}</body></html>`;
const { service, site } = await builtSite(
  { 1: 'one', 2: 'two', 3: 'three' },
  {
    'astro.config.mjs': configWith('', { integrations: `${links},` }),
    'src/pages/index.astro': page('<p><snippet-embed id="1"></snippet-embed></p>'),
    'src/pages/about.astro': page('<p><snippet-embed id="2"></snippet-embed></p>'),
  },
);

test('pages that other integrations have linked show their snippets under each name, and stay links', async () => {
  const pages = {
    'index.html': 'one',
    'home.html': 'one',
    '200.html': 'one',
    'about/index.html': 'two',
    'ueber/index.html': 'two',
    'about.html': 'two',
    '404.html': 'two',
    'imprint.html': 'three',
  };
  const linkedTo = {
    'home.html': 'index.html',
    ueber: 'about',
    '404.html': 'about/index.html',
    'imprint.html': '../shared/imprint.html',
  };
  const expectPages = async (after: string) => {
    for (const [name, text] of Object.entries(pages)) {
      expect(await site.read(name), name).toContain(`<p>${text}${after}</p>`);
    }
    for (const [name, target] of Object.entries(linkedTo)) {
      expect(await readlink(join(site.directory, 'dist', name))).toBe(target);
    }
  };
  await expectPages('');
  for (const after of [', new', ', newer']) {
    for (const [id, text] of [
      [1, 'one'],
      [2, 'two'],
      [3, 'three'],
    ] as const)
      service.put(id, text + after);
    await exits(10, site.run('check'));
    await exits(0, site.run('refresh'));
    await expectPages(after);
  }
  await exits(0, site.run('check', '--output', 'dist'));
  expect((await lstat(join(site.directory, 'shared/imprint.html'))).isFile()).toBe(true);
});
