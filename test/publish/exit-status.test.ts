import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { startCommand } from '../support/command.ts';
import { snippetsCommand } from '../support/installation.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite, type Site } from '../support/site.ts';

let service: TestService;
let site: Site;
let record: string;
let built: string;

beforeAll(async () => {
  service = await startTestService({ 1: 'first' });
  site = await createSite({ 'src/pages/index.astro': '<p><snippet-embed id="1"></snippet-embed></p>' });
  expect((await site.build(service.environment)).exitCode).toBe(0);
  record = join(site.directory, 'node_modules/.astro/astro-snippets/manifest.json');
  built = await readFile(record, 'utf8');
});
beforeEach(async () => {
  service.put(1, 'first');
  await writeFile(record, built);
  await rm(join(site.directory, 'ran'), { force: true });
  await rm(join(record, '../manifest.command-pending'), { force: true });
});
afterAll(async () => {
  await site.remove();
  await service.close();
});

const run = (arguments_: string[], environment: Record<string, string> = {}) =>
  startCommand(site.directory, arguments_, { ...service.environment, ...environment }).ended;
const wrongKey = { SNIPPETS_API_KEY: 'sk_unknown_000000' };

describe('wrong usage exits with 2 and says what is wrong:', () => {
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
    [
      'a folder for refresh that does not exist',
      ['refresh', '--output', 'dits'],
      'The output folder dits does not exist. [missing-output]',
    ],
    [
      'a file as the folder for check',
      ['check', '--output', 'astro.config.mjs'],
      'The output folder astro.config.mjs is not a folder. [missing-output]',
    ],
  ])('%s', async (_what, arguments_, message) => {
    const { exitCode, output } = await run(arguments_);
    expect(output).toContain(message);
    expect(exitCode).toBe(2);
  });

  test('an invalid id for get, also without an API key', async () => {
    expect((await run(['get', '0'], { SNIPPETS_API_KEY: '' })).exitCode).toBe(2);
  });
});

test.each([['--help'], ['--version'], ['help'], ['help', 'check'], ['watch', '--help']])(
  'astro-snippets %s %s exits with 0',
  async (...arguments_) => {
    expect((await run(arguments_)).exitCode).toBe(0);
  },
);

test('the help of a command lists its exit statuses', async () => {
  expect((await run(['check', '--help'])).output).toContain(`
Exit status:
  0   nothing changed
  10  something changed
  3   no usable record: build
  1   failed
  2   wrong usage
With --exec, the status of the command takes the place of 10 and 3.
`);
});

describe('without a usable record', () => {
  const states: [string, () => Promise<void>][] = [
    ['no record', () => rm(record)],
    ['a damaged record', () => writeFile(record, built.slice(0, -10))],
    ['a record of another version', () => writeFile(record, built.replace(/"version":\d+/, '"version":3'))],
  ];
  test.each(states)('%s makes list, check, refresh, watch and report exit with 3', async (_state, damage) => {
    await damage();
    for (const command of ['list', 'check', 'refresh', 'watch', 'report']) {
      const { exitCode, output } = await run([command]);
      expect(output, command).toContain('Build the site');
      expect(exitCode, command).toBe(3);
    }
  });

  test('a --manifest that names no file makes check exit with 3, so that the first run with it builds', async () => {
    const { exitCode, output } = await run(['--manifest', 'elsewhere/manifest.json', 'check']);
    expect(output).toContain(join(site.directory, 'elsewhere/manifest.json'));
    expect(exitCode).toBe(3);
  });

  test('an --output that does not exist yet does not keep check --exec from building', async () => {
    await rm(record);
    expect((await run(['check', '--output', 'later', '--exec', 'exit 42'])).exitCode).toBe(42);
  });

  test('a folder that is no project is left as it is by check and refresh, which exit with 3', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'snippets-no-project-'));
    for (const command of ['check', 'refresh']) {
      const { exitCode, output } = await startCommand(folder, [command], service.environment).ended;
      expect(exitCode, output).toBe(3);
      expect(await readdir(folder), command).toEqual([]);
    }
    await rm(folder, { recursive: true });
  });

  test('doctor and get work, since they need none', async () => {
    await rm(record);
    expect((await run(['doctor', '1'])).exitCode).toBe(0);
    expect((await run(['get', '1'])).exitCode).toBe(0);
  });
});

describe('where the only record is that of dist, --output names', () => {
  const output = () => join(site.directory, 'output');
  afterEach(() => rm(output(), { recursive: true }));

  test.each([
    ['a folder with other pages', '<p>another site</p>'],
    ['a folder without pages', undefined],
  ])('%s: check and refresh exit with 3', async (_what, page) => {
    await mkdir(output());
    if (page !== undefined) await writeFile(join(output(), 'index.html'), page);
    for (const command of ['check', 'refresh']) {
      const { exitCode, output: shown } = await run([command, '--output', 'output']);
      expect(exitCode, shown).toBe(3);
      expect(shown).toContain('manifest.output.json');
    }
  });

  test('a copy of it: check compares with that record if it is named', async () => {
    await cp(join(site.directory, 'dist'), output(), { recursive: true });
    expect((await run(['check', '--output', 'output'])).exitCode).toBe(3);
    expect((await run(['check', '--output', 'output', '--manifest', record])).exitCode).toBe(0);
    service.put(1, 'second');
    expect((await run(['check', '--output', 'output', '--manifest', record])).exitCode).toBe(10);
  });

  test('a copy of it: refresh and watch write nothing and exit with 2, since dist is still there', async () => {
    await cp(join(site.directory, 'dist'), output(), { recursive: true });
    service.put(1, 'second');
    for (const command of [
      ['refresh'],
      ['refresh', '--dry-run'],
      ['refresh', '--after', 'exit 0'],
      ['watch'],
    ]) {
      const named = ['--output', 'output', '--manifest', record];
      const { exitCode, output: shown } = await run([...command, ...named]);
      expect(exitCode, shown).toBe(2);
      expect(shown).toContain(
        'output was not moved: dist, which was built, is still there. [unusable-output]',
      );
    }
    expect(await readFile(record, 'utf8')).toBe(built);
    expect(await readFile(join(output(), 'index.html'), 'utf8')).toContain('<p>first</p>');
    expect((await run(['report', '--output', 'output', '--manifest', record, '--json'])).exitCode).toBe(0);
  });

  test('a link to it: refresh writes', async () => {
    await symlink(join(site.directory, 'dist'), output(), 'junction');
    service.put(1, 'second');
    expect((await run(['refresh', '--output', 'output'])).exitCode).toBe(0);
    expect(await site.read('index.html')).toContain('<p>second</p>');
    service.put(1, 'first');
    expect((await run(['refresh'])).exitCode).toBe(0);
    expect(await site.read('index.html')).toContain('<p>first</p>');
  });
});

describe('astro-snippets check --exec', () => {
  const exec = `node -e "fs.appendFileSync('ran', 'x')"`;
  const ran = () => readFile(join(site.directory, 'ran'), 'utf8').catch(() => '');

  test('runs nothing and exits with 0 when nothing has changed', async () => {
    expect((await run(['check', '--exec', exec])).exitCode).toBe(0);
    expect(await ran()).toBe('');
  });

  test('runs the command when something has changed, and says what before', async () => {
    service.put(1, 'second');
    const { exitCode, output } = await run(['check', '--exec', `echo from the command && ${exec}`]);
    expect(output).toMatch(/^Snippet 1 has changed\n {4}index\.html\nfrom the command *\r?\n$/);
    expect(exitCode).toBe(0);
    expect(await ran()).toBe('x');
  });

  test('runs the command where there is no usable record, and warns if there is none afterwards', async () => {
    await writeFile(record, '{}');
    const { exitCode, output } = await run(['check', '--exec', exec]);
    expect(exitCode).toBe(0);
    expect(await ran()).toBe('x');
    expect(output).toContain('manifest.json is damaged. [missing-manifest]');
    expect(output).toContain(`There is still no record of a build at ${record}`);
  });

  test.each([0, 1, 3, 10, 42])('passes on the exit status %d of the command', async (status) => {
    service.put(1, 'second');
    expect((await run(['check', '--exec', `exit ${status}`])).exitCode).toBe(status);
  });

  test.skipIf(process.platform === 'win32')(
    'exits with 128 + n when a signal has ended the command, and 127 when there is no such command',
    async () => {
      service.put(1, 'second');
      expect((await run(['check', '--exec', 'kill -KILL $$'])).exitCode).toBe(137);
      expect((await run(['check', '--exec', 'no-such-command-anywhere'])).exitCode).toBe(127);
    },
  );

  test('runs nothing and exits with 1 when the key is wrong', async () => {
    service.put(1, 'second');
    const { exitCode, output } = await run(['check', '--exec', exec], wrongKey);
    expect(exitCode).toBe(1);
    expect(output).toContain('401 Unauthorized [unauthorized]');
    expect(await ran()).toBe('');
  });

  test('runs a command that failed again, though nothing has changed since, until it succeeds', async () => {
    service.put(1, 'second');
    expect((await run(['check', '--exec', 'exit 5'])).exitCode).toBe(5);
    service.put(1, 'first');
    // Not a change of the site, so a check alone does not see it.
    expect((await run(['check'])).exitCode).toBe(0);
    const again = await run(['check', '--exec', exec]);
    expect(again.exitCode).toBe(0);
    expect(again.output).toContain('The command of --exec has not succeeded since the last change.');
    await run(['check', '--exec', exec]);
    expect(await ran()).toBe('x');
  });

  test('does not run a command for one output that failed for another', async () => {
    const other = join(site.directory, 'other');
    const recordOfOther = join(record, '../manifest.other.json');
    await cp(join(site.directory, 'dist'), other, { recursive: true });
    await writeFile(recordOfOther, built);
    service.put(1, 'second');
    expect((await run(['check', '--exec', 'exit 5'])).exitCode).toBe(5);
    service.put(1, 'first');
    expect((await run(['check', '--output', 'other', '--exec', exec])).exitCode).toBe(0);
    expect(await ran()).toBe('');
    expect((await run(['check', '--exec', exec])).exitCode).toBe(0);
    expect(await ran()).toBe('x');
    await rm(other, { recursive: true });
    await rm(recordOfOther);
  });

  test.skipIf(process.platform === 'win32')('runs a command again whose process was killed', async () => {
    service.put(1, 'second');
    const {
      process: child,
      ended,
      output,
    } = startCommand(site.directory, ['check', '--exec', 'echo begun; sleep 3'], service.environment);
    await vi.waitFor(() => expect(output()).toContain('begun'), { timeout: 60_000 });
    child.kill('SIGKILL');
    await ended;
    service.put(1, 'first');
    expect((await run(['check', '--exec', exec])).exitCode).toBe(0);
    expect(await ran()).toBe('x');
  });

  describe('while the command of another one is running', () => {
    const ready = () => join(site.directory, 'ready');
    const start = (...arguments_: string[]) =>
      startCommand(site.directory, ['check', '--exec', ...arguments_], service.environment);

    /** Begins a command that does something and ends with a status when `ready` says so. */
    async function startFirst(status: number, last = '') {
      await site.write({
        'slow.mjs': `import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
appendFileSync('ran', 'x');
while (!existsSync('ready')) await setTimeout(20);
${last}
process.exitCode = ${status};`,
      });
      const first = start('node slow.mjs');
      onTestFinished(async () => {
        await writeFile(ready(), '');
        await first.ended;
        await rm(ready());
      });
      await expect.poll(ran, { timeout: 60_000 }).toBe('x');
      return first;
    }

    const waits = ({ output }: ReturnType<typeof start>) =>
      expect
        .poll(output, { timeout: 60_000 })
        .toMatch(/^Waiting for the command of process \d+ on .* to end\.$/m);

    test.each([
      ['succeeds, runs nothing', 0, 'x'],
      ['fails, runs it again', 5, 'xx'],
    ])('waits until it has ended, and if it %s', async (_what, status, all) => {
      service.put(1, 'second');
      const first = await startFirst(status);
      service.put(1, 'first');
      const others = [start(exec), start(exec)];
      for (const other of others) await waits(other);
      expect(await ran()).toBe('x');
      await writeFile(ready(), '');
      expect((await first.ended).exitCode).toBe(status);
      for (const { ended } of others) expect(await ended).toMatchObject({ exitCode: 0 });
      expect(await ran()).toBe(all);
      expect(await readdir(join(record, '..'))).not.toContainEqual(
        expect.stringMatching(/^manifest\.(?:command|lock)/),
      );
    });

    test('waits for a first build, which leaves the record', async () => {
      await rm(record);
      const first = await startFirst(
        0,
        `writeFileSync(${JSON.stringify(record)}, ${JSON.stringify(built)});`,
      );
      const second = start(exec);
      await waits(second);
      await writeFile(ready(), '');
      expect(await first.ended).toMatchObject({ exitCode: 0 });
      expect(await second.ended).toMatchObject({ exitCode: 0 });
      expect(await ran()).toBe('x');
    });
  });

  test.each([
    ['check --exec', `check --exec 'node command.mjs'`],
    ['refresh --after', `refresh --after 'node command.mjs'`],
  ])('does not wait for itself when its command is %s', async (_what, inner) => {
    service.put(1, 'second');
    await site.write({
      'command.mjs': `import { appendFileSync } from 'node:fs';\nappendFileSync('ran', 'x');`,
    });
    const quoted = process.platform === 'win32' ? inner.replaceAll("'", '"') : inner;
    const { exitCode, output } = await run([
      'check',
      '--exec',
      `"${process.execPath}" "${snippetsCommand}" ${quoted}`,
    ]);
    expect(exitCode, output).toBe(0);
    expect(output).not.toContain('Waiting');
    expect(await ran()).toBe('x');
  });

  test('with --json, prints the changes alone to standard output, and then runs the command', async () => {
    service.put(1, 'second');
    const { stdout, ended } = startCommand(
      site.directory,
      ['check', '--json', '--exec', `echo from the command && ${exec}`],
      service.environment,
    );
    expect((await ended).output).toContain('from the command');
    expect(JSON.parse(stdout())).toMatchObject({
      exitStatus: 10,
      changed: [{ id: 1, pages: [{ file: 'index.html', url: '/' }], collections: [] }],
      unfinished: [],
    });
    expect(await ran()).toBe('x');
  });

  test.skipIf(process.platform === 'win32')(
    'does not show the command, in which a shell may have expanded the key',
    async () => {
      service.put(1, 'second');
      const { output } = await run(['check', '--exec', 'exit 5 # sk_secret']);
      expect(output).not.toContain('sk_secret');
    },
  );
});
