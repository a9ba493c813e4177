import { cp, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { writeManifest } from '../../src/record/manifest-file.ts';
import { manifestOf, noteMissing } from '../../src/record/record-paths.ts';
import { type Folder, folderWith } from '../support/site/folder.ts';
import { cli } from '../support/tools/cli.ts';
import { exits } from '../support/tools/exits.ts';

let folder: Folder;

beforeEach(async () => {
  folder = await folderWith({});
});

const pathOf = (name: string) => join(folder.directory, name);
const recordOf = (output: string) => manifestOf(folder.directory, pathOf(output));
const lockOf = (output: string) => recordOf(output).replace(/json$/, 'lock');
const run = (...arguments_: string[]) => cli(folder.directory, arguments_);

/** Writes an output and its record, as a build with this snippet does. */
async function build(output: string, id: number, builtAt = '2026-01-01T00:00:00.000Z', project = '.') {
  await mkdir(pathOf(output), { recursive: true });
  await writeManifest(manifestOf(pathOf(project), pathOf(output)), {
    builtAt,
    output: pathOf(output),
    settings: {
      renderBaseUrl: undefined,
      retrieveBaseUrl: undefined,
      ca: undefined,
      concurrency: 20,
      timeout: 1_800_000,
      patience: 60_000,
      urlOptions: [],
    },
    rules: { sanitizes: false, scripts: 'allow', strict: false, policy: 'none' },
    snippets: [{ id, params: undefined, key: `${id}` }],
    files: [],
    unrelated: [],
    collections: [],
  });
}

/** The id of the snippet in the record that a command finds. */
async function listed(...options: string[]): Promise<number> {
  const { exitCode, stdout, output } = await run(...options, 'list', '--json');
  expect(exitCode, output).toBe(0);
  return JSON.parse(stdout).snippets[0].id;
}

describe('an output that is named', () => {
  beforeEach(async () => {
    await build('dist', 1);
    await build('next', 2);
  });

  test('has its own record, also after another output took its place', async () => {
    expect(await listed('--output', 'next')).toBe(2);
    await build('served', 3);
    await rm(pathOf('served'), { recursive: true });
    await rename(pathOf('next'), pathOf('served'));
    expect(await listed('--output', 'served')).toBe(3);
    expect(await listed('--output', 'served', '--manifest', recordOf('next'))).toBe(2);
  });

  test('has its own record even if the record is damaged', async () => {
    await build('served', 3);
    await writeFile(recordOf('served'), '{');
    await rename(pathOf('next'), pathOf('elsewhere'));
    expect(await exits(3, run('--output', 'served', 'list'))).toContain(`${recordOf('served')} is damaged.`);
  });

  test.each([
    ['a copy', () => cp(pathOf('next'), pathOf('served'), { recursive: true })],
    ['a folder of something else', () => mkdir(pathOf('served'))],
    ['one of two that was moved', () => rename(pathOf('next'), pathOf('served'))],
    ['a link to one of two', () => symlink(pathOf('next'), pathOf('served'), 'junction')],
  ])('is refused if it is %s, with a list of the records', async (_what, make) => {
    await make();
    for (const command of ['list', 'check', 'refresh', 'watch', 'report']) {
      const output = await exits(3, run('--output', 'served', command));
      expect(output).toContain(
        `No build manifest found at ${recordOf('served')}. Other records: dist (.cache/astro-snippets/manifest.json), next (.cache/astro-snippets/manifest.next.json). [missing-manifest]`,
      );
      expect(output).toContain('pass its record to --manifest');
    }
    expect(await listed('--output', 'served', '--manifest', recordOf('next'))).toBe(2);
  });

  describe('has the only record of the project', () => {
    beforeEach(() => rm(recordOf('next')));

    test('after it was moved', async () => {
      await rename(pathOf('dist'), pathOf('served'));
      expect(await listed('--output', 'served')).toBe(1);
    });

    test('but is wrong usage if it is a copy or does not exist', async () => {
      expect(await exits(2, run('--output', 'dits', 'list'))).toContain('dits does not exist');
      await cp(pathOf('dist'), pathOf('served'), { recursive: true });
      const output = await exits(2, run('--output', 'served', 'list'));
      expect(output).toContain('The record is about dist, which still exists, and not about served.');
      expect(await listed('--output', 'served', '--manifest', recordOf('dist'))).toBe(1);
    });

    test('but not after its build has failed', async () => {
      noteMissing(recordOf('next'), new Error('No key.'));
      const output = await exits(3, run('--output', 'next', 'list'));
      expect(output).toContain('The last build failed: No key.');
    });
  });
});

describe('of two outputs of which none is named', () => {
  const later = '2026-02-02T00:00:00.000Z';

  test('dist is taken if it was built last, or if the other is gone', async () => {
    await build('next', 2);
    await build('dist', 1, later);
    expect(await listed()).toBe(1);
    await build('other', 3, '2026-03-03T00:00:00.000Z');
    await rm(pathOf('other'), { recursive: true });
    expect(await listed()).toBe(1);
  });

  test('dist is refused if the other was built later, until one is named or dist is deleted', async () => {
    await build('dist', 1);
    await build('public_html', 2, later);
    for (const argv of [['list'], ['check'], ['check', '--exec', 'echo DEPLOY'], ['refresh'], ['watch']]) {
      const output = await exits(3, run(...argv));
      expect(output).toContain('The last build did not write dist. Built later: public_html.');
      expect(output).not.toContain('DEPLOY');
    }
    expect(await listed('--output', 'dist')).toBe(1);
    expect(await listed('--output', 'public_html')).toBe(2);
    await rm(pathOf('dist'), { recursive: true });
    expect(await listed()).toBe(2);
  });
});

describe('without a folder named dist', () => {
  test('the only record is found', async () => {
    await build('site', 4);
    expect(await listed()).toBe(4);
  });

  test('of two records, neither is chosen, and both are named', async () => {
    await build('site', 4);
    await build('public', 5);
    const output = await exits(3, run('list'));
    expect(output).toMatch(/Other records: public \(.*, site \(/);
    expect(output).toContain('name the folder of another build with --output');
    expect(await listed('--output', 'public')).toBe(5);
  });

  test('an output that is being built still counts as having its own record', async () => {
    await mkdir(dirname(lockOf('build')), { recursive: true });
    const elsewhere = { work: 'build', token: 'other', pid: 1, host: 'build-2' };
    await writeFile(lockOf('build'), JSON.stringify({ ...elsewhere, since: new Date().toISOString() }));
    expect(await exits(3, run('list'))).toContain(`No build manifest found at ${recordOf('build')}.`);
  });
});

test('a record that --manifest names is not replaced by another', async () => {
  await build('dist', 1);
  const output = await exits(3, run('--manifest', 'elsewhere.json', 'list'));
  expect(output).toContain(`No build manifest found at ${pathOf('elsewhere.json')}. [missing-manifest]`);
});

describe('two projects that share the folder of the record through a link', () => {
  const in_ = (project: string, ...argv: string[]) => cli(pathOf(project), argv);

  beforeEach(async () => {
    await mkdir(pathOf('w1/.cache'), { recursive: true });
    await mkdir(pathOf('w2'));
    await symlink(pathOf('w1/.cache'), pathOf('w2/.cache'), 'junction');
    await build('w1/dist', 1, undefined, 'w1');
    await build('w2/dist', 2, '2026-02-02T00:00:00.000Z', 'w2');
  });

  test('have the record of the last build, which the other project refuses by name', async () => {
    expect(await exits(0, in_('w2', 'list'))).toContain('Snippet 2');
    for (const command of ['list', 'check', 'refresh', 'report']) {
      expect(await exits(3, in_('w1', command))).toMatch(/manifest\.json is the record of .*w2[/\\]dist\./);
    }
    await build('w1/dist', 1, undefined, 'w1');
    expect(await exits(0, in_('w1', 'list'))).toContain('Snippet 1');
    expect(await exits(3, in_('w2', 'list'))).toMatch(/is the record of .*w1[/\\]dist\./);
  });

  test('keep it if one is moved, copied or reached through a link', async () => {
    await symlink(pathOf('w2'), pathOf('link'), 'junction');
    expect(await exits(0, in_('link', 'list'))).toContain('Snippet 2');
    await rename(pathOf('w2'), pathOf('moved'));
    expect(await exits(0, in_('moved', 'list'))).toContain('Snippet 2');
    await build('w1/dist', 1, undefined, 'w1');
    await cp(pathOf('w1'), pathOf('copied'), { recursive: true });
    expect(await exits(0, in_('copied', 'list'))).toContain('Snippet 1');
  });
});
