import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { StagedFiles } from '../../src/build/staged-files.ts';
import { writeAtomically } from '../../src/write-atomically.ts';

// Windows has no modes.
describe.skipIf(process.platform === 'win32')('under a umask of 077', () => {
  let folder: string;
  let page: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'permissions-'));
    page = join(folder, 'index.html');
    await writeFile(page, 'before');
    await chmod(page, 0o644);
    const umask = process.umask(0o077);
    return async () => {
      process.umask(umask);
      await rm(folder, { recursive: true });
    };
  });

  const modeOf = async (file: string) => ((await stat(file)).mode & 0o777).toString(8);

  test('a file that is replaced keeps its permissions', async () => {
    await writeAtomically(page, 'after', `${page}.refresh.tmp`);
    expect(await modeOf(page)).toBe('644');
  });

  test('a file that is written for the first time has the permissions that the umask leaves', async () => {
    const file = join(folder, 'new.html');
    await writeAtomically(file, 'new');
    expect(await modeOf(file)).toBe('600');
  });

  test('a file that is staged has the permissions of the one that it is like', async () => {
    const staged = new StagedFiles();
    const copy = join(folder, 'copy.html');
    staged.add(page, Buffer.from('after'), page);
    staged.add(copy, Buffer.from('after'), page);
    await staged.commit();
    expect([await modeOf(page), await modeOf(copy)]).toEqual(['644', '644']);
  });
});
