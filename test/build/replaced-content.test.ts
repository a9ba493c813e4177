import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fetcherAfter } from '../../src/build/build-fetcher.ts';
import { createRequest } from '../../src/client/snippet-request.ts';
import { hashOf, type Manifest } from '../../src/record/manifest.ts';
import { parseOptions } from '../../src/settings/options.ts';
import { resolveSettings } from '../../src/settings/settings.ts';
import { cacheKeys, SnippetCache } from '../../src/snippets/cache.ts';

const apiKey = 'sk_test_3f1c9a6b52d84e07';
const minute = 60_000;
const now = Date.now();
const cached = 'from the cache';

type Recorded = Omit<Manifest['snippets'][number], 'id'>;
const shows = (text: string, fetchedAt: number): Recorded => ({
  content: { hash: hashOf(text), variant: 'render', fetchedAt, bytes: 1, milliseconds: 1 },
});

test.for<[string, 'is used' | 'is not used', Recorded | undefined]>([
  ['of a snippet that is new on the site', 'is used', undefined],
  ['that the site shows', 'is used', shows(cached, now)],
  ['that is newer than what the site shows', 'is used', shows('other', now - 20 * minute)],
  ['that the site has replaced since', 'is not used', shows('other', now)],
  ['of a snippet that could not be fetched since', 'is used', {}],
  ['of a snippet that has not existed since', 'is not used', { missing: true }],
])('offline, a cached content %s %s', async ([, outcome, recorded]) => {
  const cacheDirectory = await mkdtemp(join(tmpdir(), 'snippets-replaced-'));
  onTestFinished(() => rm(cacheDirectory, { recursive: true }));
  const settings = resolveSettings(
    parseOptions({ offline: true }),
    { SNIPPETS_API_KEY: apiKey, SNIPPETS_RENDER_BASE_URL: 'https://render.test' },
    { cacheDirectory },
  );
  const storage = { driver: undefined, options: undefined, folder: settings.answerFolder ?? '' };
  const cache = new SnippetCache(storage, minute, () => {});
  const request = createRequest(1);
  const key = cacheKeys(apiKey)({ baseUrl: settings.renderBaseUrl ?? '', variant: 'render', ...request });
  cache.write(key, { content: cached, variant: 'render', fetchedAt: now - 10 * minute });
  await cache.close();
  const before = {
    builtAt: new Date(now - 60 * minute).toISOString(),
    refreshedAt: new Date(now).toISOString(),
    snippets: recorded === undefined ? [] : [{ id: 1, ...recorded }],
  } as Manifest;
  const fetcher = fetcherAfter(before, settings, { info() {}, warn() {} } as never);
  const got = fetcher.get({ request, asHtml: true });
  if (outcome === 'is used') expect(await got).toMatchObject({ content: cached });
  else await expect(got).rejects.toMatchObject({ code: 'not-cached' });
  await fetcher.close();
});
