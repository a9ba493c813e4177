import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { WatchListener } from '../../playground/run-astro.ts';
import { createSitePublisher, type SitePublisher } from '../../playground/site-publisher.ts';
import { optionalIn, placesOf } from '../../playground/site-record.ts';
import type { WatchOutput } from '../../src/cli/json-output.ts';
import type { RecordedFile, RecordedSnippet } from '../../src/record/manifest.ts';
import { folderWith } from '../support/site/folder.ts';

let publisher: SitePublisher;
/** The calls of the watch: `start`, `check`, `stop`, and its end, `stopped`. */
let asked: string[];
let listener: WatchListener;

const emit = (event: object) => listener.onEvent({ at: new Date().toISOString(), ...event } as WatchOutput);
const wait = (upToDate: boolean) => emit({ event: 'waiting', upToDate, milliseconds: 60_000 });

/** A turn of the watch with these events. */
function turn(upToDate: boolean, ...events: object[]): void {
  emit({ event: 'checking' });
  for (const event of events) emit(event);
  wait(upToDate);
}

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1) });
  asked = [];
  publisher = createSitePublisher({
    siteUrl: 'http://localhost:1',
    organizationId: () => 1,
    environment: () => ({}),
    served: (await folderWith({})).directory,
    commands: {
      watch(_folders, _environment, on) {
        asked.push('start');
        listener = on;
        const stop = async () => {
          asked.push('stop');
          await nextTurn();
          asked.push('stopped');
        };
        return { check: async () => void asked.push('check'), stop };
      },
      list: async () => '{"builtAt":"2026-01-01T00:00:00.000Z","snippets":[]}',
    },
  });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Publishes for the first time, which builds the site in two seconds. */
async function build(): Promise<void> {
  publisher.publish();
  emit({ event: 'checking' });
  emit({ event: 'building' });
  vi.advanceTimersByTime(2_000);
  emit({ event: 'built', succeeded: true });
  wait(true);
  expect(await publisher.settled()).toMatchObject({ state: 'done' });
}

test('a snippet published during a check is on the site after the next check', async () => {
  await build();
  emit({ event: 'checking' });
  vi.advanceTimersByTime(100);
  publisher.publish();
  wait(true);
  expect(publisher.latest()?.state).toBe('running');
  turn(true);
  expect((await publisher.settled())?.state).toBe('done');
});

test('a publish after a failed build does not wait for the next build: a new watch starts when the old one has ended', async () => {
  publisher.publish();
  const failed = { succeeded: false, problem: 'exited with status 1', retryMilliseconds: 120_000 };
  turn(false, { event: 'building' }, { event: 'built', ...failed });
  expect(await publisher.settled()).toMatchObject({
    ...{ state: 'failed', retryAt: Date.now() + 120_000 },
    output: 'The build exited with status 1.',
  });
  publisher.publish();
  publisher.publish();
  await expect.poll(() => asked).toContain('stopped');
  turn(true, { event: 'building' }, { event: 'built', succeeded: true });
  expect((await publisher.settled())?.state).toBe('done');
  expect(asked.filter((what) => what !== 'check')).toEqual(['start', 'stop', 'stopped', 'start']);
});

test('the duration of an update that had to wait, as for a subscription, counts from the publish', async () => {
  await build();
  publisher.publish();
  const startedAt = Date.now();
  turn(false, { event: 'trouble', error: { message: 'The subscription has expired.' } });
  vi.advanceTimersByTime(30_000);
  // The website repeats it when the subscription is renewed.
  publisher.publish(publisher.latest()?.startedAt);
  turn(true, { event: 'recovered' });
  expect(await publisher.settled()).toMatchObject({ startedAt, finishedAt: startedAt + 30_000 });
});

test('the trouble of one update is not shown for the next one', async () => {
  await build();
  publisher.publish();
  turn(false, { event: 'trouble', error: { message: 'The service answers 503.' } }, { event: 'recovered' });
  expect((await publisher.settled())?.output).toBe('');
  publisher.publish();
  turn(false, { event: 'building' }, { event: 'built', succeeded: true });
  expect((await publisher.settled())?.output).toBe('');
});

test('a file counts as optional for a snippet if each of its embeds there is, with whatever params', () => {
  const snippet = (id: number, key = '') => ({ id, key: `${id}${key}` }) as RecordedSnippet;
  const file = (name: string, shows: number[], optional?: number[]) =>
    ({ name, shows, optional }) as RecordedFile;
  const found = optionalIn({
    snippets: [snippet(41), snippet(42), snippet(42, 'pro')],
    files: [
      file('none.html', [0, 1]),
      file('some.html', [0, 1, 1], [1]),
      file('params.html', [1, 2], [2]),
      file('all.html', [1, 2, 0], [0, 1, 2]),
    ],
  });
  expect([...found]).toEqual([
    [42, ['some.html', 'all.html']],
    [41, ['all.html']],
  ]);
});

test('the warnings of a snippet with several params are told once, with all their pages', () => {
  const warning = (file: string) => ({
    code: 'left-open',
    message: 'Snippet 1 leaves <b> open.',
    hint: 'Close it.',
    line: 3,
    pages: [{ file, url: `/${file}` }],
  });
  const shown = (params: string, file: string) => ({
    id: 1,
    params,
    pages: [{ file, url: `/${file}` }],
    collections: [],
    warnings: [warning(file)],
  });
  const other = { id: 2, pages: [], collections: [], warnings: [warning('c.html')] };
  const { warnings } = placesOf([shown('{}', 'a.html'), shown('{"plan":"pro"}', 'b.html'), other], 1);
  expect(warnings).toEqual([
    { line: 3, message: 'Snippet 1 leaves <b> open.', hint: 'Close it.', pages: ['a.html', 'b.html'] },
  ]);
});
