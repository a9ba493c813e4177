import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSitePublisher, type SitePublisher, waitAfter } from '../../playground/site-publisher.ts';
import { stylesOf } from '../../playground/site-record.ts';

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
/** What the next commands exit with; 0 when there is nothing more. */
let exits: number[];
let ran: string[];

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  folder = await mkdtemp(join(tmpdir(), 'publisher-'));
  exits = [];
  ran = [];
  const result = (name: string) => {
    ran.push(name);
    const exitCode = exits.shift() ?? 0;
    return { exitCode, output: `${name} exits with ${exitCode}` };
  };
  publisher = createSitePublisher({
    siteUrl: 'http://localhost:1',
    environment: () => ({}),
    served: join(folder, 'site'),
    commands: {
      async build(output) {
        await mkdir(output, { recursive: true });
        await writeFile(join(output, 'index.html'), '<link rel="stylesheet" href="/a.css">');
        return result('build');
      },
      refresh: async () => result('refresh'),
      list: async () => list,
    },
  });
});
afterEach(async () => {
  publisher.stop();
  vi.useRealTimers();
  await rm(folder, { recursive: true });
});

test('what was published during an outage is on the site after it, without another click', async () => {
  publisher.publish();
  await publisher.settled();
  exits = [1, 1];
  publisher.publish();
  expect(await publisher.settled()).toMatchObject({ state: 'failed', retryAt: Date.now() + 5_000 });
  await vi.advanceTimersByTimeAsync(5_000);
  const second = await publisher.settled();
  expect(second).toMatchObject({ state: 'failed', failure: 'refresh exits with 1' });
  expect(second?.retryAt).toBe(Date.now() + 10_000);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await publisher.settled()).toMatchObject({ state: 'done', output: 'refresh exits with 0' });
  expect(ran).toEqual(['build', 'refresh', 'refresh', 'refresh']);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(ran).toHaveLength(4);
});

test('another publish during the wait is tried at once, and alone', async () => {
  exits = [1];
  publisher.publish();
  expect((await publisher.settled())?.state).toBe('failed');
  publisher.publish();
  expect((await publisher.settled())?.state).toBe('done');
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(ran).toEqual(['build', 'build']);
});

test('two publishes at once are one attempt and one after it', async () => {
  publisher.publish();
  publisher.publish();
  publisher.publish();
  await publisher.settled();
  expect(ran).toEqual(['build', 'refresh']);
});

test('the waits between attempts double up to five minutes', () => {
  expect([1, 2, 3, 6, 7, 50].map(waitAfter)).toEqual([5_000, 10_000, 20_000, 160_000, 300_000, 300_000]);
});

test('where a snippet is shown is each page and entry once, and unknown before a build', async () => {
  expect(publisher.shown(42)).toBeUndefined();
  publisher.publish();
  await publisher.settled();
  expect(publisher.shown(42)).toEqual({
    pages: ['blog/index.html', 'index.html'],
    entries: ['offers/spring'],
  });
  expect(publisher.shown(7)).toEqual({ pages: [], entries: [] });
});

test('a preview gets the style sheets of the home page', async () => {
  expect(publisher.previewHead()).toBe('');
  publisher.publish();
  await publisher.settled();
  expect(publisher.previewHead()).toBe('<link rel="stylesheet" href="http://localhost:1/a.css">');
});

test('the styles of a page are its linked and inline style sheets and nothing else of it', () => {
  const page = `<head><link rel="icon" href="/i.png"><link rel="stylesheet" href="/_astro/a.css?x=1&amp;y=2">
    <script>document.write('<style>')</script><style>a > b { color: red }</style></head><p>text</p>`;
  expect(stylesOf(page, 'http://localhost:1')).toBe(
    '<link rel="stylesheet" href="http://localhost:1/_astro/a.css?x=1&amp;y=2"><style>a > b { color: red }</style>',
  );
});
