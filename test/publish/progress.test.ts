import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openProgress } from '../../src/cli/progress.ts';
import { type Clock, systemClock } from '../../src/client/clock.ts';
import { readManifest } from '../../src/record/manifest.ts';
import { planRefresh, writeRefresh } from '../../src/record/refresh.ts';
import { testContext } from '../support/cli.ts';
import { startCommand } from '../support/command.ts';
import { createFolder, type Folder } from '../support/folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

describe('the progress of a command', () => {
  let time: number;
  beforeEach(() => {
    time = 0;
  });
  const clock: Clock = { ...systemClock, now: () => time };

  const onTerminal = (isTTY: boolean, columns = 80, TERM = 'xterm') =>
    testContext('/site', { TERM }, { clock, stream: { isTTY, columns } });

  /** Calls it every 50 milliseconds, with the number of milliseconds. */
  function work(progress: ReturnType<typeof openProgress>, milliseconds: number) {
    for (const end = time + milliseconds; time < end; ) {
      time += 50;
      progress(() => `${time} of 99`);
    }
  }

  test('is a line every 10 seconds where there is no terminal', () => {
    const { context, stderr } = onTerminal(false);
    work(openProgress(context), 35_000);
    expect(stderr()).toBe('10000 of 99\n20000 of 99\n30000 of 99\n');
  });

  test('is one line on a terminal, after 2 seconds, rewritten at most ten times a second', () => {
    const { context, stderr } = onTerminal(true);
    const progress = openProgress(context);
    work(progress, 1_950);
    expect(stderr()).toBe('');
    work(progress, 250);
    expect(stderr()).toBe('\r\u001b[2K2000 of 99\r\u001b[2K2100 of 99\r\u001b[2K2200 of 99');
  });

  test.each(['printError', 'print'] as const)(
    'is erased from a terminal before something is written with %s',
    (method) => {
      const { context, output } = onTerminal(true);
      work(openProgress(context), 2_000);
      const before = output().length;
      context.terminal[method]('a warning');
      context.terminal[method]('a warning');
      expect(output().slice(before)).toBe('\r\u001b[2Ka warning\na warning\n');
    },
  );

  test('is cut to the width of the terminal, without control characters', () => {
    const { context, stderr } = onTerminal(true, 11);
    const progress = openProgress(context);
    time = 3_000;
    progress(() => 'a\u001b[31mb\nc 0123456789');
    expect(stderr()).toBe('\r\u001b[2Kab c 01234');
  });

  test('is not shown with --json, and as lines on a dumb terminal', () => {
    const { context, output } = onTerminal(true);
    work(openProgress(context, { json: true }), 30_000);
    expect(output()).toBe('');
    const dumb = onTerminal(true, 80, 'dumb');
    work(openProgress(dumb.context), 10_000);
    expect(dumb.stderr()).toBe('40000 of 99\n');
  });
});

test('a refresh says how many pages it has compared and written', async () => {
  const service = await startTestService({ 1: 'first' });
  const embed = '<p><snippet-embed id="1"></snippet-embed></p>';
  const folder = await createFolder({
    'dist/a.html': embed,
    'dist/b.html': embed,
    'dist/c.html': '<p>plain</p>',
  });
  onTestFinished(async () => {
    await service.close();
    await folder.remove();
  });
  const inlined = await startCommand(folder.directory, ['inline', 'dist'], service.environment).ended;
  expect(inlined.exitCode, inlined.output).toBe(0);
  const file = join(folder.directory, '.cache/astro-snippets/manifest.json');
  const { manifest } = await readManifest(file);
  if (manifest === undefined) throw new Error('There is no record.');
  const second = {
    content: 'second',
    html: 'second',
    text: 'second',
    variant: 'render',
    milliseconds: 1,
  } as const;
  const snippets = [{ ...second, warnings: [], inlineCode: undefined }];
  const lines: string[] = [];
  const progress = (describe: () => string) => void lines.push(describe());
  const plan = await planRefresh(file, manifest, snippets, { progress });
  await writeRefresh(file, manifest, snippets, { ...plan, progress });
  expect(lines).toEqual([
    '0 of 2 pages compared',
    '1 of 2 pages compared',
    '0 of 2 pages written',
    '1 of 2 pages written',
  ]);
});

describe('a command that takes more than 10 seconds', () => {
  const ids = Array.from({ length: 18 }, (_, index) => index + 1);
  let service: TestService;
  let folder: Folder;

  beforeAll(async () => {
    service = await startTestService(Object.fromEntries(ids.map((id) => [id, `text ${id}`])));
    const embeds = ids.map((id) => `<p><snippet-embed id="${id}"></snippet-embed></p>`);
    folder = await createFolder({ 'dist/index.html': embeds.join('') });
    const inlined = await start('inline', 'dist').ended;
    expect(inlined.exitCode, inlined.output).toBe(0);
    const record = join(folder.directory, '.cache/astro-snippets/manifest.json');
    const manifest = JSON.parse(await readFile(record, 'utf8'));
    // One after another.
    manifest.settings.concurrency = 1;
    await writeFile(record, JSON.stringify(manifest));
    service.faults.latency = 1_000;
  });
  afterAll(async () => {
    await service.close();
    await folder.remove();
  });
  const start = (...arguments_: string[]) => startCommand(folder.directory, arguments_, service.environment);

  test('says how far it is on standard error, and with --json nothing', { timeout: 300_000 }, async () => {
    const commands = [start('check'), start('refresh'), start('check', '--json')] as const;
    const [check, refresh, json] = commands;
    const ended = await Promise.all(commands.map((command) => command.ended));
    expect(ended.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
    for (const command of [check, refresh]) {
      expect(command.stderr()).toMatch(/^(\d+ of 18 snippets fetched\n)+$/);
    }
    expect(check.stdout()).toBe('Nothing has changed: 18 snippets match the last build.\n');
    expect(json.stderr()).toBe('');
  });
});
