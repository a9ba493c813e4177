import { readdirSync, readFileSync } from 'node:fs';
import { copyFile, link, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { runWithLists } from '../../src/cli/deploy/run-command.ts';
import type { RefreshOutput } from '../../src/cli/json-output.ts';
import { steppedClock } from '../support/service/clock.ts';
import { copyOfEverything, type Everything } from '../support/site/everything.ts';
import { createFolder, folderWith } from '../support/site/folder.ts';
import { changeRecord } from '../support/site/records.ts';
import { cli, testContext } from '../support/tools/cli.ts';
import { exits } from '../support/tools/exits.ts';

// Writes down what a command is told.
const script = `import { appendFileSync, readFileSync } from 'node:fs';
const read = (name) => process.env[name] === undefined ? null : readFileSync(process.env[name], 'utf8').split('\\n').slice(0, -1);
appendFileSync('told', JSON.stringify({ files: read('ASTRO_SNIPPETS_CHANGED_FILES'), urls: read('ASTRO_SNIPPETS_CHANGED_URLS') }) + '\\n');
process.exit(Number(process.argv[2] ?? 0));`;
const tell = (exit = 0) => `node told.mjs ${exit}`;
const toldIn = (directory: string) =>
  readFileSync(join(directory, 'told'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line): unknown => JSON.parse(line));

const unknown = { files: null, urls: null };
const about = { files: ['about.html'], urls: ['https://example.com/docs/about'] };
const first = {
  files: ['data.json', 'index.html', 'rss.xml'],
  urls: ['data.json', '', 'rss.xml'].map((path) => `https://example.com/docs/${path}`),
};
const all = { files: [...about.files, ...first.files], urls: [...about.urls, ...first.urls] };

let site: Everything;
/** The folder for temporary files, to find those that are left. */
let temporary: string;

beforeEach(async () => {
  site = await copyOfEverything();
  await site.write({ 'told.mjs': script });
  ({ directory: temporary } = await folderWith({}));
  vi.stubEnv('TMPDIR', temporary);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  // Node keeps compiled code there.
  expect(readdirSync(temporary).filter((name) => name !== 'node-compile-cache')).toEqual([]);
});

const told = () => toldIn(site.directory);
const publish = (...ids: number[]) => {
  for (const id of ids) site.service.put(id, `changed ${id}`);
};

describe('the command of check --exec is told', () => {
  const check = (exit?: number) => site.run('check', '--exec', tell(exit));

  test('the files that show a changed snippet, and their URLs', async () => {
    publish(1);
    expect((await check()).exitCode).toBe(0);
    expect(told()).toEqual([first]);
  });

  test('root-relative URLs if the URL of the site is not known', async () => {
    const folder = await createFolder({
      'dist/alone/index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
      'told.mjs': script,
    });
    const run = (...arguments_: string[]) => cli(folder.directory, arguments_, site.service.environment);
    await run('inline', 'dist');
    publish(1);
    await run('check', '--exec', tell());
    expect(toldIn(folder.directory)).toEqual([{ files: ['alone/index.html'], urls: ['/alone/'] }]);
    await folder.remove();
  });

  test('nothing without a usable record, or if a snippet in a collection has changed', async () => {
    publish(2, 7);
    await check();
    await rm(site.record);
    await check();
    expect(told()).toEqual([unknown, unknown]);
  });

  describe('what differs from what it has deployed last, although no snippet has changed:', () => {
    test.for([
      ['the files of a refresh', true, ['refresh'], first],
      ['any file after a refresh if it has deployed nothing yet', false, ['refresh'], unknown],
      ['the files of a refresh with --after', true, ['refresh', '--after', 'exit 0'], first],
    ] as const)('%s', async ([, hasChecked, refresh, expected]) => {
      if (hasChecked) expect((await check()).exitCode).toBe(0);
      expect(await site.list('.')).not.toContain('told');
      publish(1);
      expect((await site.run(...refresh)).exitCode).toBe(0);
      expect(await exits(0, check())).toContain('The output is not what --exec has deployed last.');
      expect(told()).toEqual([expected]);
      expect(await exits(0, check())).not.toContain('--exec');
      expect(told()).toEqual([expected]);
    });

    test('any file after another build, until the command succeeds', async () => {
      expect((await check()).exitCode).toBe(0);
      await changeRecord(site.record, (record) => ({ ...record, builtAt: '2030-01-01T00:00:00.000Z' }));
      expect((await check(7)).exitCode).toBe(7);
      expect((await check()).exitCode).toBe(0);
      expect((await check()).exitCode).toBe(0);
      expect(told()).toEqual([unknown, unknown]);
    });

    test('the files of a refresh, together with those of a snippet that has changed since', async () => {
      expect((await check()).exitCode).toBe(0);
      publish(1);
      expect((await site.run('refresh')).exitCode).toBe(0);
      publish(2);
      expect((await check()).exitCode).toBe(0);
      expect(told()).toEqual([all]);
    });
  });

  test('the same files again after it has failed, with those that have changed since', async () => {
    publish(2);
    expect((await check(7)).exitCode).toBe(7);
    site.service.put(2, 'about us');
    expect((await check(7)).exitCode).toBe(7);
    publish(1);
    expect((await check()).exitCode).toBe(0);
    expect(told()).toEqual([about, about, all]);
  });
});

test('the command of refresh --after is told the files that were written, and nothing if it runs again after a failure', async () => {
  const refresh = (exit?: number) => site.run('refresh', '--after', tell(exit));
  publish(2);
  expect((await refresh()).exitCode).toBe(0);
  publish(1);
  expect((await refresh(7)).exitCode).toBe(1);
  expect((await refresh()).exitCode).toBe(0);
  expect(told()).toEqual([about, first, unknown]);
});

describe('copies of a page and links to it are told, as they change with it,', () => {
  const { files, urls } = about;
  const names = ['200.html', 'hard.html', 'home.html', 'linked/about.html'];
  const both = {
    files: [...files, ...names],
    urls: [
      ...urls,
      ...['200', 'hard', 'home', 'linked/about'].map((name) => `https://example.com/docs/${name}`),
    ],
  };

  beforeEach(async () => {
    const output = join(site.directory, 'dist');
    await copyFile(join(output, 'about.html'), join(output, '200.html'));
    await writeFile(join(output, '200.html.gz'), gzipSync(readFileSync(join(output, '200.html'))));
    await link(join(output, 'about.html'), join(output, 'hard.html'));
    await symlink('about.html', join(output, 'home.html'));
    await mkdir(join(output, 'linked'));
    await symlink('../about.html', join(output, 'linked/about.html'));
  });

  test('to the command of --after, and in JSON', async () => {
    publish(2);
    const { stdout } = await site.run('refresh', '--json', '--after', tell());
    const { written } = JSON.parse(stdout) as RefreshOutput;
    expect(written.map(({ file }) => file)).toEqual(both.files);
    expect(told()).toEqual([both]);
    site.service.put(2, 'changed once more');
    expect((await site.run('refresh', '--after', tell())).exitCode).toBe(0);
    expect(told()).toEqual([both, both]);
  });

  test('to the command of check --exec after a refresh', async () => {
    expect((await site.run('check', '--exec', tell())).exitCode).toBe(0);
    publish(2);
    expect((await site.run('refresh')).exitCode).toBe(0);
    expect((await site.run('check', '--exec', tell())).exitCode).toBe(0);
    expect(told()).toEqual([both]);
    site.service.put(2, 'changed once more');
    expect((await site.run('check', '--exec', tell())).exitCode).toBe(0);
    expect(told()).toEqual([both, both]);
  });
});

describe('the command of watch --exec is told', () => {
  /** Runs the first turn of a watch. */
  async function watch(exit: number, ...flags: string[]): Promise<void> {
    const clock = steppedClock();
    const watching = site.start(['watch', '--exec', tell(exit), ...flags], { clock });
    await clock.waiting();
    watching.kill('SIGTERM');
    await watching.ended;
  }

  test('the files that were written, also by an earlier watch whose command failed', async () => {
    publish(2);
    await watch(7);
    publish(1);
    await watch(0);
    expect(told()).toEqual([about, all]);
  });

  test('nothing after a build', async () => {
    await copyFile(site.record, join(site.directory, 'built.json'));
    await rm(site.record);
    await watch(0, '--build', `node -e "fs.copyFileSync('built.json', '${site.record}')"`);
    expect(told()).toEqual([unknown]);
  });
});

test('a file with a line break in its name is in no list', async () => {
  const { context } = testContext(site.directory);
  const files = [{ file: 'two\nlines.html', url: '/two%0Alines.html' }];
  expect(await runWithLists(context, tell(), { files, warnings: [] })).toBe(0);
  expect(told()).toEqual([unknown]);
});
