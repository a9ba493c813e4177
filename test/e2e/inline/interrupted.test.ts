import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { embed, unzipped, withService } from '../../inline/folders.ts';
import { startCommand } from '../../support/command.ts';
import type { Folder } from '../../support/folder.ts';
import { folderWith } from '../../support/folder.ts';

const { service, runs } = withService();
const names = ['a.html', 'b.html', 'c.html'];
const pageOf = (name: string, content: string) => `<p>${name} ${content}</p>`;

/** Ends the process by SIGKILL instead of replacing one more file in `public`. */
const killer = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const { renameSync } = fs;
let left = Number(process.env.KILLED_AFTER);
fs.renameSync = (from, to) => {
  if (/[\\\\/]public[\\\\/]/.test(to) && left-- <= 0) process.kill(process.pid, 'SIGKILL');
  renameSync(from, to);
};
syncBuiltinESMExports();
`;

async function writePage(folder: Folder, name: string) {
  const page = pageOf(name, embed(1));
  await folder.write({ [`public/${name}`]: page, [`public/${name}.gz`]: gzipSync(page) });
}

/** Pages of an earlier run and a new one, each with a compressed copy. */
async function inlinedFolder(): Promise<Folder> {
  const folder = await folderWith({ 'killer.mjs': killer });
  for (const name of ['a.html', 'b.html']) await writePage(folder, name);
  await runs(folder, ['inline', 'public']);
  await writePage(folder, 'c.html');
  return folder;
}

async function kill(folder: Folder, after: number) {
  const { process: child, ended } = startCommand(folder.directory, ['inline', 'public'], {
    ...service().environment,
    KILLED_AFTER: `${after}`,
    NODE_OPTIONS: `--import ${new URL(`file://${join(folder.directory, 'killer.mjs')}`)}`,
  });
  await ended;
  expect(child.exitCode).not.toBe(0);
}

async function expectInlined(folder: Folder, content: string) {
  await runs(folder, ['inline', 'public']);
  for (const name of names) {
    expect(await folder.read(`public/${name}`)).toBe(pageOf(name, content));
    expect(await unzipped(folder, `public/${name}.gz`)).toBe(pageOf(name, content));
  }
  expect(Object.keys(await folder.files('public')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  expect(await runs(folder, ['list'])).toContain(names.map((name) => `    ${name}\n`).join(''));
  // Neither the record nor a page needs anything.
  expect(await runs(folder, ['refresh'])).toBe('Nothing has changed.\n');
}

// Three pages and their compressed copies.
test.for([0, 1, 2, 3, 4, 5])(
  'after a run that was killed when it had written %i of 6 files, the next one completes them',
  async (after) => {
    // What is published then, or was before, and in the one that is killed too.
    for (const published of ['<i>new</i>', '<b>one</b>', '<u>newer</u>']) {
      service().put(1, '<b>one</b>');
      const folder = await inlinedFolder();
      service().put(1, '<i>new</i>');
      await kill(folder, after);
      await runs(folder, ['check'], 3);
      service().put(1, published);
      if (published === '<u>newer</u>') await kill(folder, 3);
      await expectInlined(folder, published);
    }
  },
);
