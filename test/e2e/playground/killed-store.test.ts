import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openStore } from '../../../playground/service/store/index.ts';
import { folderWith } from '../../support/site/folder.ts';

test('every acknowledged publish survives kill -9, and none is stored in part', async () => {
  const { directory: folder } = await folderWith({});
  const file = join(folder, 'killed.sqlite');
  const store = openStore(file);
  const { id: organization } = store.organizations.create('Test');
  const { id } = store.snippets.create(organization, { name: 'x', draft: '' });
  store.close();
  const script = join(folder, 'publish.mts');
  await writeFile(
    script,
    `import { writeSync } from 'node:fs';
     import { openStore } from ${JSON.stringify(join(import.meta.dirname, '../../../playground/service/store/index.ts'))};
     const store = openStore(${JSON.stringify(file)});
     for (let n = 0; n < 200; n++) {
       store.snippets.save(${organization}, ${id}, { name: 'x', draft: 'content ' + n + ' ' + 'x'.repeat(5000), sample: '{}' });
       const { number } = store.snippets.publish(${organization}, ${id});
       writeSync(1, number + '\\n');
     }`,
  );
  let acknowledged = 0;
  for (let kill = 0; kill < 8; kill++) {
    const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const killAfter = Math.floor(Math.random() * 150) + 1;
    let seen = 0;
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) acknowledged = Math.max(acknowledged, Number(line));
      seen += lines.length;
      if (seen >= killAfter) child.kill('SIGKILL');
    });
    await new Promise((resolve) => child.once('close', resolve));

    const database = new DatabaseSync(file);
    expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    expect(database.prepare('PRAGMA foreign_key_check').all()).toEqual([]);
    database.close();
    const reopened = openStore(file);
    const versions = reopened.snippets.versions(organization, id);
    const newest = versions[0]?.number ?? 0;
    // A publish just before the kill may not have been acknowledged.
    expect([acknowledged, acknowledged + 1]).toContain(newest);
    expect(versions.map(({ number }) => number)).toEqual(
      Array.from({ length: newest }, (_, index) => newest - index),
    );
    for (const { content } of versions) expect(content).toMatch(/^content \d+ x{5000}$/);
    expect(reopened.snippets.get(organization, id)?.published).toBe(newest);
    acknowledged = newest;
    reopened.close();
  }
  expect(acknowledged).toBeGreaterThan(8);
});
