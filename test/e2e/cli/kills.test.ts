import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { embed, unzipped, withService } from '../../folder/folders.ts';
import { copyOfEverything } from '../../support/site/everything.ts';
import { folderWith } from '../../support/site/folder.ts';
import { temporarySite } from '../../support/site/site.ts';
import { startCommand } from '../../support/tools/command.ts';
import { killedAfter } from '../../support/tools/killed.ts';

const { service, run, runs } = await withService();

test('a refresh that is killed at a write leaves each file complete, and the next one completes the site', async () => {
  const site = await copyOfEverything();
  const folders = ['dist', '.vercel/output/static'];

  /** The files that show the snippet, as a browser gets them. */
  const shown = async () =>
    [...(await site.decoded(...folders))].filter(
      ([name]) => /\/(index\.html|data\.json|rss\.xml)(\.\w+)?$/.test(name) && !name.includes('/de/'),
    );

  const contents = ['the heffalump', `the woozle ${'and another '.repeat(20)}`] as const;
  const states = [await shown()];
  site.service.put(1, contents[1]);
  await site.run('refresh');
  states.push(await shown());
  expect(states.map(({ length }) => length)).toEqual([24, 24]);

  let isKilled = true;
  for (let turn = 0; isKilled; turn++) {
    // Each refresh has something to write.
    const next = turn % 2;
    site.service.put(1, contents[next] as string);
    const environment = { ...site.service.environment, ...(await killedAfter(site, turn * 4)) };
    const { exitCode, output } = await startCommand(site.directory, ['refresh'], environment).ended;
    isKilled = exitCode === null;
    if (!isKilled) expect([exitCode, turn > 10], output).toEqual([0, true]);
    const [left, old] = [new Map(await shown()), new Map(states[1 - next])];
    for (const [name, text] of states[next] ?? [])
      expect([text, old.get(name)], name).toContain(left.get(name));
    // Status 0 means that all files are up to date, also if the service shows the old content again.
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
    expect(await shown()).toEqual(states[next]);
  }
});

const names = ['a.html', 'b.html', 'c.html'];
const pageOf = (name: string, content: string) => `<p>${name} ${content}</p>`;

/** Pages with a compressed copy each. */
function pagesWith(folder: string, written: readonly string[]): Record<string, string | Buffer> {
  const pages = written.map((name) => [`${folder}/${name}`, pageOf(name, embed(1))] as const);
  return Object.fromEntries(
    pages.flatMap(([name, page]) => [
      [name, page],
      [`${name}.gz`, gzipSync(page)],
    ]),
  );
}

test('after an inline that was killed at a write, each file is whole, and the next inline completes them', async () => {
  const argv = ['inline', 'public'];
  for (let changes = 0, isKilled = true; isKilled; changes += 2) {
    service.put(1, '<b>one</b>');
    const folder = await folderWith(pagesWith('public', names.slice(0, 2)));
    await runs(folder, argv);
    await folder.write(pagesWith('public', ['c.html']));
    service.put(1, '<i>new</i>');
    const environment = { ...service.environment, ...(await killedAfter(folder, changes)) };
    const kill = async () => (await startCommand(folder.directory, argv, environment).ended).exitCode !== 0;
    isKilled = await kill();
    for (const name of names) {
      const states = ['<b>one</b>', '<i>new</i>', embed(1)].map((one) => pageOf(name, one));
      expect(states, `${name} after ${changes}`).toContain(await folder.read(`public/${name}`));
      expect(states, `${name}.gz after ${changes}`).toContain(await unzipped(folder, `public/${name}.gz`));
    }
    const { exitCode } = await run(folder, ['check']);
    expect(isKilled ? [0, 3, 10] : [0]).toContain(exitCode);
    if (exitCode === 0) {
      for (const name of names) expect(await folder.read(`public/${name}`)).toBe(pageOf(name, '<i>new</i>'));
    }
    // Then the new content, the old one, or a newer one in a run that is killed, too.
    const content = ['<i>new</i>', '<b>one</b>', '<u>newer</u>'][changes % 3] ?? '';
    service.put(1, content);
    if (changes % 3 === 2 && isKilled) await kill();
    await runs(folder, argv);
    for (const name of names) {
      expect(await folder.read(`public/${name}`)).toBe(pageOf(name, content));
      expect(await unzipped(folder, `public/${name}.gz`)).toBe(pageOf(name, content));
    }
    const left = Object.keys(await folder.files('.'));
    expect(left.filter((name) => /^public.*\.tmp$|\.unfinished$/.test(name))).toEqual([]);
    expect(left.filter((name) => name.endsWith('.pack'))).toHaveLength(1);
    expect(await runs(folder, ['list'])).toContain(names.map((name) => `    ${name}\n`).join(''));
    expect(await runs(folder, ['refresh'])).toBe('Nothing has changed.\n');
    if (!isKilled) expect(changes).toBeGreaterThan(10);
  }
});

test('a build that was killed at any write leaves no false record, and the next one is complete', async () => {
  const page = (title: string) => `<h1>${title}</h1><snippet-embed id="1"></snippet-embed>`;
  const site = await temporarySite({ 'src/pages/a.html': page('A'), 'src/pages/b.html': page('B') });
  const expectComplete = async () => {
    for (const name of ['a', 'b']) expect(await site.read(`${name}/index.html`)).toContain('<b>one</b>');
  };
  for (let changes = 0, isKilled = true; isKilled; changes += 2) {
    const environment = { ...service.environment, ...(await killedAfter(site, changes)) };
    const { exitCode, output } = await site.start(['build'], environment).ended;
    isKilled = exitCode !== 0;
    if (isKilled) expect(output).not.toContain('Complete!');
    const { exitCode: checked } = await run(site, ['check']);
    expect(isKilled ? [0, 3] : [0], `after ${changes}`).toContain(checked);
    // If the check finds a usable record, the pages are complete.
    if (checked === 0) await expectComplete();
    if (!isKilled) expect(changes).toBeGreaterThan(5);
    if (isKilled && changes % 3 > 0) continue;
    expect((await site.build(service.environment)).exitCode).toBe(0);
    await expectComplete();
    const left = await site.list('node_modules/.astro/astro-snippets');
    expect(left.filter((name) => /\.(?:json|pack)$/.test(name))).toEqual([
      expect.stringMatching(/\.pack$/),
      'manifest.json',
    ]);
  }
});
