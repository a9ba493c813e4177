import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createRequest } from '../../src/client/snippet-request.ts';
import { parseOptions, type SnippetsOptions } from '../../src/settings/options.ts';
import { resolveSettings } from '../../src/settings/settings.ts';
import { cacheKeys, SnippetCache } from '../../src/snippets/cache.ts';
import { SnippetFetcher } from '../../src/snippets/fetch-snippets.ts';
import type { SnippetUse } from '../../src/snippets/file-embeds.ts';
import { freePort } from '../support/free-port.ts';
import { certificate, httpServer } from '../support/tls-server.ts';

const apiKey = 'sk_test_3f1c9a6b52d84e07';

/** A service that answers snippets below 100 never, snippets below 200 at once, and does not have the others. */
async function hangingService(): Promise<string> {
  const server = await httpServer((request, response) => {
    const id = Number(/snippets\/(\d+)/.exec(request.url)?.[1]);
    if (id < 100) return;
    const body = id < 200 ? { content: 'current' } : { title: 'Not Found', status: 404 };
    response.writeHead(id < 200 ? 200 : 404, {
      'content-type': id < 200 ? 'application/json' : 'application/problem+json',
    });
    response.end(JSON.stringify(body));
  });
  onTestFinished(() => server.close());
  return server.origin;
}

/** Where connections are refused. */
async function closedService(): Promise<string> {
  return `https://localhost:${await freePort()}`;
}

const usesOf = (...ids: number[]): SnippetUse[] =>
  ids.map((id) => ({
    request: createRequest(id),
    places: [`page-${id}.html`],
    placesWithoutChildren: [],
    asHtml: true,
  }));

/** A run that ends after half a second, and has these contents in its cache. */
async function openRun(origin: string, cached: Record<number, string>, more: SnippetsOptions = {}) {
  const cacheDirectory = await mkdtemp(join(tmpdir(), 'snippets-limit-'));
  const warnings: string[] = [];
  const warn = (line: string) => void warnings.push(line);
  const settings = resolveSettings(
    parseOptions({ timeout: '500ms', staleIfError: '7d', ca: certificate.ca, ...more }),
    { SNIPPETS_API_KEY: apiKey, SNIPPETS_RENDER_BASE_URL: origin },
    { cacheDirectory },
  );
  const folder = join(cacheDirectory, 'astro-snippets/answers');
  const cache = new SnippetCache({ driver: undefined, options: undefined, folder }, 1000, warn);
  const keyOf = cacheKeys(apiKey);
  for (const [id, content] of Object.entries(cached)) {
    const { params } = createRequest(Number(id));
    const key = keyOf({ baseUrl: settings.renderBaseUrl ?? '', variant: 'render', id: Number(id), params });
    cache.write(key, { content, variant: 'render', fetchedAt: Date.now() - 7_150_000 });
  }
  await cache.close();
  const fetcher = new SnippetFetcher(settings, { warn, remember: true });
  onTestFinished(async () => {
    await fetcher.close();
    await rm(cacheDirectory, { recursive: true, force: true });
  });
  return { fetcher, warnings };
}

const services = { hanging: hangingService, refusing: closedService };

test.for([
  ['hanging', true],
  ['refusing', false],
] as const)(
  'a service that is %s when the time for all snippets is over: the last good content is used, prefetched: %s',
  async ([kind, isPrefetched]) => {
    const { fetcher, warnings } = await openRun(await services[kind](), { 1: '<b>one</b>', 2: 'two' });
    const uses = usesOf(1, 2);
    if (isPrefetched) for (const { request } of uses) fetcher.prefetch(request);
    const fetched = await fetcher.fetch(uses);
    expect([...fetched.values()].map(({ html }) => html)).toEqual(['<b>one</b>', 'two']);
    const stale = warnings.filter((line) => line.includes('last good content'));
    expect(stale).toEqual(
      [1, 2].map(
        (id) =>
          `Snippet ${id}: not fetched within 500 milliseconds, the limit for all snippets (\`timeout\`) Its last good content, fetched 2 hours ago, is shown instead on page-${id}.html. [timeout]`,
      ),
    );
  },
);

test('after the time for all snippets, one without cached content has failed, and its last good content is not that of another', async () => {
  const { fetcher } = await openRun(await hangingService(), { 1: 'one' });
  const uses = usesOf(1, 2).map((use) => ({ ...use, placesWithoutChildren: use.places }));
  await expect(fetcher.fetch(uses)).rejects.toThrow(
    /Snippet 2: not fetched within 500 milliseconds.*\n {4}on page-2\.html/,
  );
});

test('the last good content does not replace a snippet that does not exist, whatever hangs beside it', async () => {
  const { fetcher } = await openRun(await hangingService(), { 1: 'one', 200: 'gone' });
  for (const { request } of usesOf(1, 200)) fetcher.prefetch(request);
  const failure = await fetcher.fetch(usesOf(1, 200)).catch((error: Error) => error);
  expect((failure as Error).message).toMatch(/Snippet 200: 404 Not Found \[not-found\]/);
  expect((failure as Error).message).not.toContain('Snippet 1:');
});

test('a snippet that arrives in time is current, whatever hangs beside it', async () => {
  const { fetcher } = await openRun(await hangingService(), { 1: 'one', 100: 'old' });
  const fetched = await fetcher.fetch(usesOf(1, 100));
  expect([...fetched.values()].map(({ html }) => html)).toEqual(['one', 'current']);
});

test('what is prepared early takes of the time for all snippets', async () => {
  const { fetcher } = await openRun(await hangingService(), {});
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const prepared = fetcher.prepare(usesOf(1));
  await vi.advanceTimersByTimeAsync(500);
  expect(await prepared).toMatchObject([{ error: { code: 'timeout' } }]);
  const uses = usesOf(2).map((use) => ({ ...use, placesWithoutChildren: use.places }));
  const fetched = expect(fetcher.fetch(uses)).rejects.toThrow(
    'Snippet 2: not fetched within 500 milliseconds',
  );
  await vi.advanceTimersByTimeAsync(1);
  await fetched;
});
