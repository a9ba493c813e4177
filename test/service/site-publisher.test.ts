import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { WatchListener } from '../../playground/run-astro.ts';
import { createSitePublisher, type SitePublisher } from '../../playground/site-publisher.ts';
import { stylesOf } from '../../playground/site-record.ts';
import type { WatchOutput } from '../../src/cli/cli-output.ts';

const index = { file: 'index.html', url: '/' };
const blog = { file: 'blog/index.html', url: '/blog/' };
const list = JSON.stringify({
  builtAt: '2026-01-01T00:00:00.000Z',
  snippets: [
    { id: 42, pages: [index, blog], collections: [] },
    {
      id: 42,
      params: '{"plan":"pro"}',
      pages: [index],
      collections: [{ collection: 'offers', entry: 'spring' }],
    },
  ],
});

let folder: string;
let publisher: SitePublisher;
/** What was asked of the watch: `start`, `check` or `stop`. */
let asked: string[];
let listener: WatchListener;

const emit = (event: object) => listener.onEvent({ at: new Date().toISOString(), ...event } as WatchOutput);
const wait = (upToDate: boolean) => emit({ event: 'waiting', upToDate, milliseconds: 60_000 });
const trouble = { event: 'trouble', error: { message: '402 Payment Required', hint: 'Renew it.' } };

/** A turn, in which these events follow each other. */
function turn(upToDate: boolean, ...events: object[]): void {
  emit({ event: 'checking' });
  for (const event of events) emit(event);
  wait(upToDate);
}

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1) });
  folder = await mkdtemp(join(tmpdir(), 'publisher-'));
  await mkdir(join(folder, 'site'));
  await writeFile(join(folder, 'site/index.html'), '<link rel="stylesheet" href="/a.css">');
  asked = [];
  publisher = createSitePublisher({
    siteUrl: 'http://localhost:1',
    environment: () => ({}),
    served: join(folder, 'site'),
    commands: {
      watch(_folders, _environment, on) {
        asked.push('start');
        listener = on;
        return { check: async () => void asked.push('check'), stop: async () => void asked.push('stop') };
      },
      list: async () => list,
    },
  });
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true });
});

/** Publishes for the first time, which builds the site in two seconds. */
async function build(): Promise<void> {
  publisher.publish();
  emit({ event: 'checking' });
  emit({ event: 'building' });
  vi.advanceTimersByTime(2_000);
  emit({ event: 'built', succeeded: true });
  wait(true);
  expect(await publisher.settled()).toMatchObject({ state: 'done', how: 'build' });
}

test('the first publish starts the watch, which builds the site, and the next ones call it', async () => {
  await build();
  expect(asked).toEqual(['start']);
  publisher.publish();
  expect(publisher.latest()).toMatchObject({ state: 'running', buildMilliseconds: 2_000 });
  const startedAt = Date.now();
  vi.advanceTimersByTime(600);
  turn(true);
  expect(await publisher.settled()).toMatchObject({
    ...{ state: 'done', how: 'refresh', startedAt, finishedAt: startedAt + 600 },
  });
  expect(asked).toEqual(['start', 'check']);
});

test('what is published while a check is under way is on the site after the next one', async () => {
  await build();
  emit({ event: 'checking' });
  vi.advanceTimersByTime(100);
  publisher.publish();
  wait(true);
  expect(publisher.latest()?.state).toBe('running');
  turn(true);
  expect((await publisher.settled())?.state).toBe('done');
});

test('what was published during an outage is on the site after it, without another click', async () => {
  await build();
  publisher.publish();
  listener.onOutput('A signed call has arrived\n');
  turn(false, trouble);
  const failed = await publisher.settled();
  expect(failed).toMatchObject({ state: 'failed', retryAt: Date.now() + 60_000 });
  expect(failed?.output).toBe('A signed call has arrived\n402 Payment Required\nRenew it.');
  vi.advanceTimersByTime(60_000);
  emit({ event: 'checking' });
  expect(publisher.latest()).toMatchObject({ state: 'running', failure: failed?.output });
  // The watch says it once.
  wait(false);
  expect((await publisher.settled())?.output).toBe('402 Payment Required\nRenew it.');
  turn(true, { event: 'recovered' });
  expect((await publisher.settled())?.state).toBe('done');
  expect(asked).toEqual(['start', 'check']);
});

test('another publish after a build that failed does not wait until the watch builds again', async () => {
  publisher.publish();
  const built = {
    event: 'built',
    succeeded: false,
    problem: 'exited with status 1',
    retryMilliseconds: 120_000,
  };
  turn(false, { event: 'building' }, built);
  expect(await publisher.settled()).toMatchObject({
    ...{ state: 'failed', how: 'build', retryAt: Date.now() + 120_000 },
    output: 'The build exited with status 1.',
  });
  publisher.publish();
  await vi.waitFor(() => expect(asked).toEqual(['start', 'stop', 'start']));
  turn(true, { event: 'building' }, { event: 'built', succeeded: true });
  expect((await publisher.settled())?.state).toBe('done');
});

test('a watch that ends by itself is said, and started again by the next publish', async () => {
  await build();
  publisher.publish();
  listener.onEnd(1);
  expect(await publisher.settled()).toMatchObject({
    ...{ state: 'failed', retryAt: undefined, output: 'astro-snippets watch ended with status 1.' },
  });
  publisher.publish();
  expect(asked).toEqual(['start', 'check', 'start']);
});

test('checks that nobody has asked for change nothing of what is said about the last publish', async () => {
  await build();
  const done = { ...publisher.latest() };
  turn(false, trouble);
  expect(publisher.latest()).toEqual(done);
});

test('where a snippet is shown is each page and entry once, and unknown before a build', async () => {
  expect(publisher.shown(42)).toBeUndefined();
  await build();
  expect(publisher.shown(42)).toEqual({
    pages: ['blog/index.html', 'index.html'],
    entries: ['offers/spring'],
  });
  expect(publisher.shown(7)).toEqual({ pages: [], entries: [] });
});

test('a preview gets the style sheets of the home page', async () => {
  expect(publisher.previewHead()).toBe('');
  await build();
  expect(publisher.previewHead()).toBe('<link rel="stylesheet" href="http://localhost:1/a.css">');
});

test('the styles of a page are its linked and inline style sheets and nothing else of it', () => {
  const page = `<head><link rel="icon" href="/i.png"><link rel="stylesheet" href="/_astro/a.css?x=1&amp;y=2">
    <script>document.write('<style>')</script><style>a > b { color: red }</style></head><p>text</p>`;
  expect(stylesOf(page, 'http://localhost:1')).toBe(
    '<link rel="stylesheet" href="http://localhost:1/_astro/a.css?x=1&amp;y=2"><style>a > b { color: red }</style>',
  );
});
