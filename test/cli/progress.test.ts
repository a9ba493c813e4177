import { beforeEach, describe, expect, test } from 'vitest';
import type { Cli } from '../../src/cli/terminal/terminal.ts';
import { type Clock, systemClock } from '../../src/client/clock.ts';
import { copyOfEverything } from '../support/site/everything.ts';
import { type CliResult, testContext } from '../support/tools/cli.ts';

describe('the progress of a command', () => {
  let time: number;
  beforeEach(() => {
    time = 0;
  });
  const clock: Clock = { ...systemClock, now: () => time };

  const onTerminal = (isTTY: boolean, columns = 80, TERM = 'xterm') =>
    testContext('/site', { TERM }, { clock, stream: { isTTY, columns } });

  const openProgress = ({ terminal }: Cli) => terminal.openProgress();

  /** Calls `progress` every 50 milliseconds. */
  function work(progress: ReturnType<typeof openProgress>, milliseconds: number) {
    for (const end = time + milliseconds; time < end; ) {
      time += 50;
      progress(() => `${time} of 99`);
    }
  }

  test('is one line on a terminal, after 2 seconds, rewritten at most ten times a second', () => {
    const { context, stderr } = onTerminal(true);
    const progress = openProgress(context);
    work(progress, 1_950);
    expect(stderr()).toBe('');
    work(progress, 250);
    expect(stderr()).toBe('\r\u001b[2K2000 of 99\r\u001b[2K2100 of 99\r\u001b[2K2200 of 99');
  });

  test.each(['printError', 'print'] as const)(
    'is erased from a terminal before %s writes something',
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
    context.terminal.json = 'check';
    work(openProgress(context), 30_000);
    expect(output()).toBe('');
    const dumb = onTerminal(true, 80, 'dumb');
    work(openProgress(dumb.context), 10_000);
    expect(dumb.stderr()).toBe('40000 of 99\n');
  });
});

test('a command that takes more than 10 seconds prints its progress on standard error, but not with --json', async () => {
  const site = await copyOfEverything();
  const { service } = site;
  /** Runs a command on a clock that advances by 10 seconds with each reading once all snippets have been requested. */
  async function run(...arguments_: string[]): Promise<CliResult> {
    const before = service.requests().length;
    let time = 0;
    const now = () => {
      if (service.requests().length - before >= 11) time += 10_000;
      return time;
    };
    return site.start(arguments_, { clock: { ...systemClock, now } }).ended;
  }
  const json = await run('check', '--json');
  expect([json.exitCode, json.stderr]).toEqual([0, '']);
  const check = await run('check');
  expect(check).toMatchObject({
    exitCode: 0,
    stdout: 'Nothing has changed: 11 snippets match the last build.\n',
  });
  expect(check.stderr).toMatch(/^(\d+ of 11 snippets fetched\n)+$/);
  service.put(1, 'the woozle');
  const refresh = await run('refresh');
  expect(refresh.exitCode).toBe(0);
  expect(refresh.stderr.replace(/^\d+ of 11 snippets fetched\n/gm, '')).toBe(
    ['compared', 'written']
      .flatMap((done) => [0, 1, 2].map((page) => `${page} of 3 pages ${done}\n`))
      .join(''),
  );
});
