import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { hashOf } from '../../src/record/hash-of.ts';
import { type SteppedClock, steppedClock } from '../support/service/clock.ts';
import { webhookSecret } from '../support/service/signed-call.ts';
import { sharedService } from '../support/site/built-site.ts';
import { type Folder, folderWith } from '../support/site/folder.ts';
import { changeRecord } from '../support/site/records.ts';
import { cli, type RunningCli, startCli } from '../support/tools/cli.ts';
import { flawsOf, type Outputs, watchEvents } from '../support/tools/json-output.ts';

const params = '{"plan":"pro"}';
const files = {
  'dist/index.html': `<p><snippet-embed id="1"></snippet-embed></p><p><snippet-embed id="2" params='${params}'></snippet-embed></p>`,
  'dist/pricing/index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
  'dist/feed.xml': '<rss><title>&lt;snippet-embed id="2"&gt;&lt;/snippet-embed&gt;</title></rss>',
};
const urls = { site: 'https://example.com', base: '/docs', trailingSlash: 'always' };
const home = { file: 'index.html', url: 'https://example.com/docs/' };
const pricing = { file: 'pricing/index.html', url: 'https://example.com/docs/pricing/' };
const feed = { file: 'feed.xml', url: 'https://example.com/docs/feed.xml' };

let folder: Folder;
let record: string;

const service = await sharedService({ 1: 'first', 2: 'two {{ plan }}' });
beforeEach(async () => {
  service.put(1, 'first');
  folder = await folderWith(files);
  const inlined = await command('inline', 'dist');
  expect(inlined.exitCode, inlined.output).toBe(0);
  record = join(folder.directory, '.cache/astro-snippets/manifest.json');
  // As an Astro build records them.
  await changeRecord(record, (built) => ({ ...built, urls }));
});

const command = (...arguments_: string[]) => cli(folder.directory, arguments_, service.environment);

const times = new Set(['at', 'builtAt', 'refreshedAt', 'comparedWith', 'fetchedAt']);

/** Parses a text. Fails if it does not match the type exactly, at any depth. */
function parsed<Name extends keyof Outputs>(name: Name, text: string): Outputs[Name] {
  expect(flawsOf(name, text), text).toEqual([]);
  return JSON.parse(text, (key, value) => {
    if (times.has(key)) expect(value).toBe(new Date(value).toISOString());
    return value;
  });
}

async function run<Name extends keyof Outputs>(name: Name, ...arguments_: string[]) {
  const { exitCode, stdout, stderr } = await command(...arguments_);
  const output = parsed(name, stdout);
  expect(output).toMatchObject({ version: 1, command: arguments_[0], exitStatus: exitCode });
  return { output, exitCode, stderr };
}

test('list --json names each snippet, its content and its URLs', async () => {
  const { output } = await run('ListOutput', 'list', '--json');
  expect(output.snippets.map(({ id, params, pages }) => ({ id, params, pages }))).toEqual(
    expect.arrayContaining([
      { id: 1, pages: [home, pricing] },
      { id: 2, params, pages: [home] },
      { id: 2, pages: [feed] },
    ]),
  );
  expect(output.snippets.find(({ id }) => id === 1)?.content).toMatchObject({
    hash: hashOf('first'),
    bytes: 5,
    variant: 'render',
  });
});

test('check --json names what has changed, and exits with 10', async () => {
  expect((await run('CheckOutput', 'check', '--json')).output).toMatchObject({ compared: 3, changed: [] });
  service.put(1, 'second');
  const { output, exitCode } = await run('CheckOutput', 'check', '--json');
  expect(exitCode).toBe(10);
  expect(output.changed).toEqual([
    { id: 1, newHash: hashOf('second'), pages: [home, pricing], collections: [] },
  ]);
});

describe('refresh --json', () => {
  const snippets = [{ id: 1, oldHash: hashOf('first'), newHash: hashOf('second') }];

  test('names the files that were written, with their URLs and what changed in them', async () => {
    service.put(1, 'second');
    const { output, exitCode } = await run('RefreshOutput', 'refresh', '--json');
    expect(exitCode).toBe(0);
    expect(output).toEqual({
      version: 1,
      command: 'refresh',
      exitStatus: 0,
      dryRun: false,
      written: [
        { ...home, snippets },
        { ...pricing, snippets },
      ],
      warnings: [],
      notWritten: [],
    });
    expect((await run('RefreshOutput', 'refresh', '--json')).output.written).toEqual([]);
  });

  test('says why nothing was written, and what to do next, and exits with 3', async () => {
    service.put(1, 'second');
    await folder.write({ 'dist/index.html': 'minified' });
    const { output, exitCode } = await run('RefreshOutput', 'refresh', '--json');
    expect(exitCode).toBe(3);
    expect(output).toMatchObject({
      written: [],
      notWritten: [
        { name: 'index.html', reason: 'was changed after the build, and does not show what the record says' },
      ],
      nextStep: 'Nothing was written. Build the site, or update the other pages with --skip-modified.',
    });
  });

  test('with --dry-run, has the text that would change, and writes nothing', async () => {
    service.put(1, 'second');
    const { output } = await run('RefreshOutput', 'refresh', '--json', '--dry-run');
    expect(output).toMatchObject({ dryRun: true, written: [home, pricing] });
    expect(output.diffs).toEqual([
      { id: 1, pages: [home, pricing], patch: expect.stringContaining('-first\n+second\n') },
    ]);
    expect(await folder.read('dist/index.html')).toContain('first');
  });

  test('says that the command of --after failed, whose output goes to standard error', async () => {
    service.put(1, 'second');
    const after = ['--after', 'echo from the command && exit 7'];
    const { output, exitCode, stderr } = await run('RefreshOutput', 'refresh', '--json', ...after);
    expect(exitCode).toBe(1);
    expect(output).toMatchObject({
      written: [home, pricing],
      after: { exitStatus: 7 },
      nextStep: expect.stringContaining('Fix the command'),
    });
    expect(stderr).toContain('from the command');
  });
});

test('report --json has the sums of the page, and what happened to each snippet, and writes no page', async () => {
  service.put(1, 'second');
  await command('refresh');
  const { output } = await run('ReportOutput', 'report', '--json');
  expect(output.totals).toMatchObject({ snippets: 3, pages: 3, embeds: 4, changed: 1 });
  expect(output.snippets.find(({ id }) => id === 1)).toMatchObject({
    change: 'changed',
    pages: [home, pricing],
  });
  expect(output.comparedWith).toBeDefined();
  expect(Object.keys(await folder.files())).not.toContain('snippets-report.html');
});

test('doctor --json has each check with its outcome, and the hint of one that failed', async () => {
  const { output, exitCode } = await run('DoctorOutput', 'doctor', '--json', '1');
  expect(exitCode).toBe(0);
  expect(output.ready).toBe(true);
  expect(output.checks.filter(({ name }) => name === 'snippet')).toMatchObject([
    { group: 'render', outcome: 'ok' },
    { group: 'retrieve', outcome: 'ok' },
  ]);
  const failed = await run('DoctorOutput', 'doctor', '--json', '999');
  expect(failed.output).toMatchObject({ exitStatus: 1, ready: false });
  expect(failed.output.checks.find(({ name }) => name === 'snippet')).toMatchObject({
    outcome: 'failed',
    error: { code: 'not-found', message: expect.stringContaining('404') },
    hint: expect.stringContaining('Check the id'),
  });
});

describe('watch --json', () => {
  let clock: SteppedClock;
  let watching: RunningCli;
  const start = (...arguments_: string[]) => {
    clock = steppedClock();
    const every = ['watch', '--json', '--every', '30s'];
    const environment = { ...service.environment, SNIPPETS_WEBHOOK_SECRET: webhookSecret };
    watching = startCli(folder.directory, [...every, ...arguments_], environment, { clock });
    return clock.waiting();
  };
  /** Runs the next check. */
  const check = async () => {
    (await clock.waiting()).end();
    await clock.waiting();
  };
  const stop = async () => {
    watching.kill('SIGTERM');
    await watching.ended;
  };
  const events = () => watching.stdout().split('\n').slice(0, -1).map(parsedEvent);
  const parsedEvent = (line: string) => parsed('WatchOutput', line);
  const named = (name: string) => events().filter(({ event }) => event === name);

  test('prints one event per line: what was written, trouble, recovery, deployments', async () => {
    await start('--exec', 'echo deploying');
    const waiting = { event: 'waiting', milliseconds: 30_000 };
    expect(events()).toMatchObject([
      { event: 'started', everyMilliseconds: 30_000 },
      { event: 'checking' },
      { ...waiting, upToDate: true },
    ]);
    service.put(1, 'second');
    await check();
    expect(named('written')).toMatchObject([{ written: [home, pricing] }]);
    expect(named('deployed')).toMatchObject([{ succeeded: true }]);
    Object.assign(service.faults, { failing: 1, failingStatus: 402 });
    await check();
    expect(named('trouble')).toMatchObject([{ error: { code: 'payment-required' } }]);
    expect(events().at(-1)).toMatchObject({ ...waiting, upToDate: false });
    service.clearFaults();
    await check();
    expect(named('recovered')).toHaveLength(1);
    expect(named('deployed')).toHaveLength(1);
    expect(events().at(-1)).toMatchObject({ ...waiting, upToDate: true });
    expect(watching.stderr()).toContain('deploying');
    await stop();
  });

  test('says where it listens, and without --exec prints no event of a deployment', async () => {
    await start('--listen', '127.0.0.1:0');
    expect(named('started')).toMatchObject([{ url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/$/) }]);
    service.put(1, 'second');
    await check();
    await stop();
    expect(named('written')).toHaveLength(1);
    expect(named('deployed')).toEqual([]);
  });

  test('prints what the commands of --after and --build did, and what only a build can update', async () => {
    await start('--after', 'exit 7', '--build', 'exit 9');
    service.put(1, 'second');
    await check();
    expect(named('after-failed')).toMatchObject([{ exitStatus: 7 }]);
    await folder.write({ 'dist/index.html': 'minified' });
    service.put(1, 'third');
    await check();
    const notWritten = [
      { name: 'index.html', reason: 'was changed after the build, and does not show what the record says' },
    ];
    expect(named('not-written')).toMatchObject([{ notWritten }]);
    expect(named('building')).toHaveLength(1);
    expect(named('built')).toMatchObject([
      { succeeded: false, problem: 'exited with status 9', retryMilliseconds: 60_000 },
    ]);
    expect(events().at(-1)).toMatchObject({ event: 'waiting', upToDate: false });
    await stop();
  });
});

describe('an error under --json', () => {
  test.each(['list', 'check', 'refresh', 'watch', 'report'])(
    'of %s is one JSON object on standard output, and text on standard error',
    async (name) => {
      await rm(record);
      const { output, exitCode, stderr } = await run('ErrorOutput', name, '--json');
      expect(exitCode).toBe(3);
      expect(output.error).toMatchObject({
        code: 'missing-manifest',
        message: `No build manifest found at ${record}.`,
        hint: expect.stringContaining('Build the site'),
      });
      expect(stderr).toContain('No build manifest found');
    },
  );

  test('has the code of snippets that fail alike, otherwise the code several', async () => {
    service.unpublish(1);
    const alike = await run('ErrorOutput', 'check', '--json');
    expect(alike.output).toMatchObject({ exitStatus: 1, error: { code: 'not-found' } });
    Object.assign(service.faults, { only: [2], failing: 1, failingStatus: 403 });
    const different = await run('ErrorOutput', 'check', '--json');
    expect(different.output).toMatchObject({ exitStatus: 1, error: { code: 'several' } });
    expect(different.output.error.message).toContain('[forbidden]');
  });

  test('check --exec prints it before the command runs if there is no record, otherwise what has changed', async () => {
    service.put(1, 'second');
    const check = () => command('check', '--json', '--exec', 'echo from the command');
    const changed = await check();
    expect(parsed('CheckOutput', changed.stdout)).toMatchObject({ exitStatus: 10, changed: [{ id: 1 }] });
    expect(changed).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('from the command') });
    await rm(record);
    const { exitCode, stdout, stderr } = await check();
    expect(exitCode).toBe(0);
    expect(parsed('ErrorOutput', stdout)).toMatchObject({
      exitStatus: 3,
      error: { code: 'missing-manifest' },
    });
    expect(stderr).toContain('from the command');
  });

  test.each([
    [['check', '--json', '--unknown'], 2, 'usage', 'unknown option'],
    [['report', '--json', '--to', 'x.html'], 2, 'usage', 'cannot be used with'],
    [['doctor', '--json', 'x'], 2, 'invalid-id', 'positive whole number'],
    [['watch', '--json', '--listen', '127.0.0.1:0'], 1, 'webhook-secret', 'is not set'],
  ])('of %j exits with %i, and has the code %s', async (arguments_, status, code, message) => {
    const { output, exitCode } = await run('ErrorOutput', ...arguments_);
    expect(exitCode).toBe(status);
    expect(output.error).toMatchObject({ code, message: expect.stringContaining(message) });
  });
});

const types: Record<string, keyof Outputs> = {
  list: 'ListOutput',
  check: 'CheckOutput',
  refresh: 'RefreshOutput',
  watch: 'WatchOutput',
  doctor: 'DoctorOutput',
  report: 'ReportOutput',
};
const page = readFileSync(join(import.meta.dirname, '../../docs/json-output.md'), 'utf8');
const examples = Array.from(page.matchAll(/^```json\n([\s\S]*?)^```$/gm), ([, code = '']) => code);

test.each(examples)('an example in docs/json-output.md matches its type: %s', (example) => {
  const { command, error } = JSON.parse(example);
  parsed(error === undefined ? (types[command] as keyof Outputs) : 'ErrorOutput', example);
});

test('docs/json-output.md has an example of each command, and names each event', () => {
  const shown = examples.map((example) => JSON.parse(example).command);
  expect(shown).toEqual(expect.arrayContaining(Object.keys(types)));
  for (const event of watchEvents()) expect(page).toContain(`- \`${event}\`: `);
});

test('text from outside and the API key are harmless in JSON', async () => {
  const key = service.environment.SNIPPETS_API_KEY;
  await changeRecord(record, (written) => {
    written.files[0][0] = `##[group]\u202e${key}.html`;
    return written;
  });
  // Only commands that read the key can hide it.
  service.put(1, 'second');
  const { output, stdout } = await command('check', '--json');
  expect(output).not.toContain(key);
  expect(stdout).not.toMatch(/[^\n\x20-\x7e]|##\[/);
  parsed('CheckOutput', stdout);
});
