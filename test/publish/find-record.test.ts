import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { manifestPath } from '../../src/cli/project.ts';
import { hashOf, type Manifest, writeManifest } from '../../src/record/manifest.ts';
import { manifestOf } from '../../src/record/manifest-file.ts';
import { isHolder, type LockHolder, type OutputLock, takeLock } from '../../src/record/output-lock.ts';
import { createFolder, type Folder } from '../support/folder.ts';

let folder: Folder;

beforeEach(async () => {
  folder = await createFolder({});
  return () => folder.remove();
});

const recordOf = (output: string) => manifestOf(folder.directory, join(folder.directory, output));

/** Records a build whose pages have these texts. */
async function record(output: string, pages: readonly string[], builtAt = '2026-01-01T00:00:00.000Z') {
  const manifest: Manifest = {
    builtAt,
    output: '../..',
    settings: { concurrency: 20 },
    rules: { sanitizes: false, scripts: 'allow', strict: false, policy: 'none' },
    snippets: [],
    kinds: [],
    files: pages.map((text, index) => ({ name: `${index}.html`, hash: hashOf(text), places: [] })),
    collections: [],
  };
  await writeManifest(recordOf(output), manifest);
}

const write = (output: string, pages: readonly string[]) =>
  folder.write(Object.fromEntries(pages.map((text, index) => [`${output}/${index}.html`, text])));
const texts = (text: string) => Array.from({ length: 25 }, (_, index) => `${text} ${index}`);

describe('an output that is named', () => {
  test('has the record that most of its pages are from, not one with a single equal page', async () => {
    await record('served', ['an equal page', ...texts('old').slice(1)]);
    await record('next', ['an equal page', ...texts('new').slice(1)]);
    await write('served', ['an equal page', ...texts('new').slice(1)]);
    expect(await manifestPath({ cwd: folder.directory }, { output: 'served' })).toBe(recordOf('next'));
  });

  test('has its own record even if another and newer one has the same pages', async () => {
    await record('a', texts('same'), '2026-01-02T00:00:00.000Z');
    await record('served', texts('same'));
    await write('served', texts('same'));
    expect(await manifestPath({ cwd: folder.directory }, { output: 'served' })).toBe(recordOf('served'));
  });

  test.each(['a', 'b'])(
    'has the newer of two records that have the same pages, which is that of %s',
    async (newer) => {
      for (const output of ['a', 'b']) {
        await record(output, texts('same'), `2026-01-0${output === newer ? 2 : 1}T00:00:00.000Z`);
      }
      await write('moved', texts('same'));
      expect(await manifestPath({ cwd: folder.directory }, { output: 'moved' })).toBe(recordOf(newer));
    },
  );
});

describe('without a folder named dist', () => {
  const lockOf = (output: string) => recordOf(output).replace(/json$/, 'lock');
  let lock: OutputLock | undefined;
  afterAll(() => lock?.release());

  test('an output that is being built has its record, although a build has none while it runs', async () => {
    const holder: LockHolder = {
      work: 'build',
      token: 'other',
      pid: 1,
      hostname: 'build-2',
      host: 'build-2 elsewhere',
      since: new Date().toISOString(),
    };
    await mkdir(dirname(lockOf('build')), { recursive: true });
    await writeFile(lockOf('build'), JSON.stringify(holder));
    expect(await manifestPath({ cwd: folder.directory }, {})).toBe(recordOf('build'));
  });

  test('the lock of a build that has ended is not taken for a record', async () => {
    const taken = takeLock(lockOf('build'), 'build');
    if (isHolder(taken)) throw new Error('The lock was held.');
    lock = taken;
    await record('site', texts('same'));
    expect(await manifestPath({ cwd: folder.directory }, {})).toBe(recordOf('site'));
  });
});
