import { watch } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { startCommand } from '../../support/command.ts';
import { copyOfEverything } from '../../support/everything.ts';

const decoders = { '.gz': gunzipSync, '.br': brotliDecompressSync, '.zst': zstdDecompressSync };
const turns = 20;

test('a refresh that is killed at any moment leaves each file complete, and the next one completes the site', async () => {
  const site = await copyOfEverything();
  const folders = ['dist', '.vercel/output/static'];

  /** The files that show the snippet, as a browser gets them. */
  async function shown(): Promise<[name: string, text: string][]> {
    const files = [...(await site.contents(...folders))].filter(
      ([name]) => /\/(index\.html|data\.json|rss\.xml)(\.\w+)?$/.test(name) && !name.includes('/de/'),
    );
    return files.map(([name, bytes]) => {
      const decode = decoders[extname(name) as keyof typeof decoders];
      return [name, (decode === undefined ? bytes : decode(bytes)).toString()];
    });
  }

  const contents = ['the heffalump', `the woozle ${'and another '.repeat(20)}`] as const;
  const states = [await shown()];
  site.service.put(1, contents[1]);
  await site.run('refresh');
  states.push(await shown());
  expect(states.map(({ length }) => length)).toEqual([24, 24]);

  const kills = new Map<string | undefined, number>();
  for (let turn = 0; turn < turns; turn++) {
    // Each refresh has something to write: the last one was completed.
    const next = turn % 2;
    site.service.put(1, contents[next] as string);
    const { process: child, ended } = startCommand(site.directory, ['refresh'], site.service.environment);
    const kill = () => child.kill('SIGKILL');
    // When something is written to the output or to its copy, or at any moment.
    const folder = [...folders, undefined][turn % 3];
    const watcher = folder === undefined ? undefined : watch(join(site.directory, folder), kill);
    if (folder === undefined) setTimeout(kill, 150 + Math.floor(Math.random() * 400));
    const { exitCode, output } = await ended;
    watcher?.close();
    expect([null, 0], output).toContain(exitCode);
    if (exitCode === null) kills.set(folder, (kills.get(folder) ?? 0) + 1);
    const [left, old] = [new Map(await shown()), new Map(states[1 - next])];
    for (const [name, text] of states[next] ?? [])
      expect([text, old.get(name)], name).toContain(left.get(name));
    // Whatever was written, 0 says that all files are those of the service; also if it shows the old content again.
    const last = turn % 4 < 2 ? next : 1 - next;
    site.service.put(1, contents[last] as string);
    const checked = await site.run('check');
    expect([0, 10], checked.output).toContain(checked.exitCode);
    if (checked.exitCode === 0) expect(await shown()).toEqual(states[last]);
    expect(await site.run('refresh')).toMatchObject({ exitCode: 0 });
    expect(await shown()).toEqual(states[last]);
    expect((await site.list()).filter((name) => name.includes('.tmp'))).toEqual([]);
    if (last === next) continue;
    site.service.put(1, contents[next] as string);
    expect(await site.run('refresh')).toMatchObject({ exitCode: 0 });
  }
  for (const folder of folders) expect(kills.get(folder), folder).toBeGreaterThan(0);
});
