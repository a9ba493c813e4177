import { execFileSync } from 'node:child_process';
import { chmod, chown, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderWith } from '../support/site/folder.ts';

const module = (name: string) => JSON.stringify(join(import.meta.dirname, '../../dist/files', name));

/** Stages `new` for files and commits, as another user. @returns the files whose owner was not kept */
function stageAs(ids: { uid: number; gid: number }, files: readonly string[]): string[] {
  const script = `
import { StagedFiles } from ${module('staged-files.js')};
const staged = new StagedFiles({ followsLinks: true });
for (const file of ${JSON.stringify(files)}) staged.add(file, Buffer.from('new'));
await staged.commit();
console.log(JSON.stringify(staged.otherOwners));`;
  const options = { ...ids, encoding: 'utf8', cwd: '/' } as const;
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', script], options));
}

// Only root may give files to other users.
test.skipIf(process.getuid?.() !== 0)(
  'owner, group and permissions stay where the process may set them, and otherwise the file is named',
  async () => {
    const folder = await folderWith({ 'a.html': 'a', 'b.html': 'b', 'c.html': 'c' });
    const [a = '', b = '', c = ''] = ['a', 'b', 'c'].map((name) => join(folder.directory, `${name}.html`));
    await chmod(folder.directory, 0o777);
    await chown(a, 12_345, 54_321);
    await chown(b, 65_534, 54_321);
    await chown(c, 65_534, 65_534);
    for (const file of [a, b, c]) await chmod(file, 0o644);
    const states = () =>
      Promise.all(
        [a, b, c].map(async (file) => {
          const { uid, gid, mode } = await stat(file);
          return [uid, gid, (mode & 0o777).toString(8), await readFile(file, 'utf8')].join(' ');
        }),
      );

    expect(stageAs({ uid: 0, gid: 0 }, [a, b, c])).toEqual([]);
    expect(await states()).toEqual(['12345 54321 644 new', '65534 54321 644 new', '65534 65534 644 new']);
    await folder.write({ 'a.html': 'a', 'b.html': 'b', 'c.html': 'c' });
    expect(stageAs({ uid: 65_534, gid: 65_534 }, [a, b, c])).toEqual([a, b]);
    expect(await states()).toEqual(['65534 65534 644 new', '65534 65534 644 new', '65534 65534 644 new']);
  },
);
