import { cp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { copyOfEverything, type Everything } from '../support/site/everything.ts';
import { folderWith } from '../support/site/folder.ts';
import { snippetsCommand } from '../support/site/installation.ts';
import { changeRecord } from '../support/site/records.ts';
import { cli, type RunningCli } from '../support/tools/cli.ts';
import { exits } from '../support/tools/exits.ts';

let site: Everything;
const open = async () => {
  site = await copyOfEverything();
};
const fileOf = (name: string) => join(site.directory, name);
test.each([
  ['no command', [], 'Usage: astro-snippets'],
  ['an unknown command', ['chekc'], 'Did you mean check?'],
  ['an unknown option of the program', ['--outptu', 'dist', 'check'], 'Did you mean --output?'],
  ['an unknown option of a command', ['check', '--jsn'], 'Did you mean --json?'],
  ['an option without its value', ['check', '--exec'], 'argument missing'],
  ['an argument too many', ['list', 'more'], 'too many arguments'],
  ['a missing argument', ['get'], "missing required argument 'id'"],
  ['an invalid interval', ['watch', '--every', '30'], 'Expected a duration of at least 1s'],
  ['an empty command for check', ['check', '--exec', ''], 'Expected a command.'],
  ['an empty command for watch', ['watch', '--build', ' '], 'Expected a command.'],
  ['an invalid id for get', ['get', '0'], '[invalid-id]'],
  ['an invalid id for doctor', ['doctor', 'x'], '[invalid-id]'],
  ['invalid params for get', ['get', '1', '--params', '{'], '[invalid-params]'],
  ['a param that JavaScript would change', ['get', '1', '--params', '{"n":1e999}'], 'Fix the params as the'],
])('wrong usage exits with 2 and says what is wrong: %s', async (_what, arguments_, message) => {
  expect(await exits(2, cli('.', arguments_))).toContain(message);
});

test.each([['--help'], ['--version'], ['help'], ['help', 'check'], ['watch', '--help']])(
  'astro-snippets %s … exits with 0',
  async (...arguments_) => {
    expect(await cli('.', arguments_)).toMatchObject({ exitCode: 0, stderr: '' });
  },
);

describe('without a usable record', () => {
  beforeEach(open);

  test.for([
    ['no record', () => rm(site.record), 'No build manifest found at '],
    ['a damaged record', (built: string) => writeFile(site.record, built.slice(0, -10)), ' is damaged.'],
    [
      'a record of another version',
      (built: string) => writeFile(site.record, JSON.stringify({ ...JSON.parse(built), version: 1 })),
      ' was written by another version of astro-snippets.',
    ],
  ] as const)('%s makes list, check, refresh, watch and report exit with 3', async ([, damage, flaw]) => {
    await damage(await readFile(site.record, 'utf8'));
    site.service.put(1, 'the woozle');
    for (const command of ['list', 'check', 'refresh', 'watch', 'report']) {
      const output = await exits(3, site.run(command));
      expect(output, command).toContain(flaw);
      expect(output, command).toMatch(/\[missing-manifest\]\n\nBuild the site (once|first|in this folder)/);
    }
    expect(await site.read('index.html')).toContain('heffalump');
  });

  test('check --exec runs its command even if --output does not exist yet', async () => {
    await rm(site.record);
    expect((await site.run('check', '--output', 'later', '--exec', 'exit 42')).exitCode).toBe(42);
  });

  test('in a folder without a project, check and refresh exit with 3 and write nothing', async () => {
    const folder = await folderWith({});
    for (const command of ['check', 'refresh']) {
      expect(await cli(folder.directory, [command], site.service.environment)).toMatchObject({ exitCode: 3 });
      expect(await readdir(folder.directory), command).toEqual([]);
    }
  });
});

describe('--output names', () => {
  beforeEach(open);
  const first = 'Snippet 1 has changed';

  test('a file: check exits with 2', async () => {
    const output = await exits(2, site.run('check', '--output', 'astro.config.mjs'));
    expect(output).toContain('The output folder astro.config.mjs is not a folder. [missing-output]');
  });

  test('a copy, with the record of dist: check compares; refresh and watch exit with 2, since dist exists', async () => {
    await cp(fileOf('dist'), fileOf('output'), { recursive: true });
    const named = ['--output', 'output', '--manifest', site.record];
    expect((await site.run('check', ...named)).exitCode).toBe(0);
    site.service.put(1, 'the woozle');
    expect(await exits(10, site.run('check', ...named))).toContain(first);
    const before = await site.contents('output', 'node_modules/.astro');
    for (const command of [
      ['refresh'],
      ['refresh', '--dry-run'],
      ['refresh', '--after', 'exit 0'],
      ['watch'],
    ]) {
      expect(await exits(2, site.run(...command, ...named))).toContain(
        'The record is about dist, which still exists, and not about output. [unusable-output]',
      );
    }
    expect(await site.contents('output', 'node_modules/.astro')).toEqual(before);
    expect((await site.run('report', ...named, '--json')).exitCode).toBe(0);
  });

  test('a link to dist: refresh writes', async () => {
    await symlink(fileOf('dist'), fileOf('output'), 'junction');
    site.service.put(1, 'the woozle');
    expect((await site.run('refresh', '--output', 'output')).exitCode).toBe(0);
    expect(await site.read('index.html')).toContain('<p>the woozle</p>');
    site.service.put(1, 'the heffalump');
    expect((await site.run('refresh')).exitCode).toBe(0);
    expect(await site.read('index.html')).toContain('<p>the heffalump</p>');
  });
});

describe('astro-snippets check --exec', () => {
  beforeEach(open);
  const exec = `node -e "fs.appendFileSync('ran', 'x')"`;
  const ran = () => readFile(fileOf('ran'), 'utf8').catch(() => '');
  const check = (command: string, ...more: string[]) => site.run('check', '--exec', command, ...more);

  test('runs nothing and exits with 0 when nothing has changed', async () => {
    expect((await check(exec)).exitCode).toBe(0);
    expect(await ran()).toBe('');
  });

  test('runs the command without a usable record, and warns if there is still no record afterwards', async () => {
    await writeFile(site.record, '{}');
    const output = await exits(0, check(exec));
    expect(await ran()).toBe('x');
    expect(output).toContain('manifest.json is damaged. [missing-manifest]');
    expect(output).toContain(`There is still no record of a build at ${site.record}`);
  });

  test.skipIf(process.platform === 'win32')(
    'exits with the status of the command: 128 + n after a signal, 127 if the command is missing; and does not print it',
    async () => {
      site.service.put(1, 'the woozle');
      for (const [command, status] of [
        ['exit 0', 0],
        ['exit 1', 1],
        ['exit 3', 3],
        ['exit 10', 10],
        // A command line may contain the key.
        ['exit 42 # sk_secret', 42],
        ['false && true', 1],
        ['kill -KILL $$', 137],
        ['no-such-command-anywhere', 127],
        ['# sk_secret'.repeat(300_000), 127],
      ] as const) {
        const output = await exits(status, check(command));
        expect(output).not.toContain('sk_secret');
        if (command.length > 1_000) expect(output).toContain('The shell could not be started: E2BIG');
      }
    },
  );

  test("does not run one output's failed command for another output", async () => {
    await cp(fileOf('dist'), fileOf('other'), { recursive: true });
    const otherRecord = site.record.replace('manifest.json', 'manifest.other.json');
    await cp(site.record, otherRecord);
    await changeRecord(otherRecord, (record) => {
      return { ...record, output: record.output.replace(/dist$/, 'other') };
    });
    site.service.put(1, 'the woozle');
    expect((await check('exit 5')).exitCode).toBe(5);
    site.service.put(1, 'the heffalump');
    expect(await exits(10, site.run('check'))).toBe(
      'The last --exec command has not succeeded, so the site is still to be deployed\n',
    );
    // A check of this output in another output's command still finds it pending.
    const inOther = { ...site.service.environment, ASTRO_SNIPPETS_LOCKS: 'of-the-other' };
    expect((await cli(site.directory, ['check'], inOther)).exitCode).toBe(10);
    expect((await check(exec, '--output', 'other')).exitCode).toBe(0);
    expect(await ran()).toBe('');
    // A check in the output's own command succeeds.
    const checked = `"${process.execPath}" "${snippetsCommand}" check && ${exec}`;
    expect(await exits(0, check(checked))).toContain('The last --exec command failed. Running it again.');
    expect(await ran()).toBe('x');
  });

  describe('while the command of another check is running', () => {
    /** Starts a check whose command ends with this status on `finish`. */
    async function startFirst(status: number): Promise<{ first: RunningCli; finish(): Promise<void> }> {
      await site.write({
        'slow.mjs': `import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
appendFileSync('ran', 'x');
while (!existsSync('ready')) await setTimeout(20);
process.exitCode = ${status};`,
      });
      const first = site.start(['check', '--exec', 'node slow.mjs']);
      const finish = () => writeFile(fileOf('ready'), '');
      onTestFinished(async () => {
        await finish();
        await first.ended;
      });
      await expect.poll(ran).toBe('x');
      return { first, finish };
    }

    const waits = ({ output }: RunningCli) =>
      expect.poll(output).toMatch(/^Waiting for another astro-snippets process \(pid \d+\)\.$/m);

    test.each([
      ['succeeds, runs nothing', 0, 'x'],
      ['fails, runs it again', 5, 'xx'],
    ])('waits for its end, and if it %s', async (_what, status, all) => {
      site.service.put(1, 'the woozle');
      const { first, finish } = await startFirst(status);
      site.service.put(1, 'the heffalump');
      const others = [1, 2].map(() => site.start(['check', '--exec', exec]));
      for (const other of others) await waits(other);
      expect(await ran()).toBe('x');
      await finish();
      expect((await first.ended).exitCode).toBe(status);
      for (const { ended } of others) expect(await ended).toMatchObject({ exitCode: 0 });
      expect(await ran()).toBe(all);
      expect(await site.list('node_modules/.astro')).not.toContainEqual(
        expect.stringMatching(/manifest\.(?:command|lock)/),
      );
    });
  });

  test.each([
    ['check --exec', `check --exec 'node command.mjs'`],
    ['refresh --after', `refresh --after 'node command.mjs'`],
  ])('does not wait for itself when its command is %s', async (_what, inner) => {
    site.service.put(1, 'the woozle');
    await site.write({
      'command.mjs': `import { appendFileSync } from 'node:fs';\nappendFileSync('ran', 'x');`,
    });
    const quoted = process.platform === 'win32' ? inner.replaceAll("'", '"') : inner;
    const output = await exits(0, check(`"${process.execPath}" "${snippetsCommand}" ${quoted}`));
    expect(output).not.toContain('Waiting');
    expect(await ran()).toBe('x');
  });
});
