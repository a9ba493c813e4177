import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Service } from '../../src/client/service.ts';
import { SnippetError, type SnippetErrorCode } from '../../src/client/snippet-error.ts';
import { createRequest, type SnippetRequest } from '../../src/client/snippet-request.ts';
import { cacheKeys, readCacheEntry, SnippetCache, type StorageOptions } from '../../src/snippets/cache.ts';
import {
  type CachePolicy,
  CachingSource,
  type CachingSourceOptions,
} from '../../src/snippets/caching-source.ts';
import type { SnippetSource } from '../../src/snippets/source.ts';
import { certificate, httpServer } from '../support/tls-server.ts';

const apiKey = 'sk_test_3f1c9a6b52d84e07';
const baseUrl = 'https://render.test';
let folder: string;
let warnings: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'snippets-cache-'));
  warnings = [];
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});

/** A service that returns each content in turn, and then the last one again. */
function service(...answers: (string | SnippetErrorCode)[]): SnippetSource & { asked: number } {
  const codes = new Set<string>([
    'server-error',
    'unauthorized',
    'payment-required',
    'forbidden',
    'not-found',
    'network',
    'timeout',
  ]);
  const source = {
    asked: 0,
    counts: { requests: 0, retries: 0, fallbacks: 0 },
    async get({ id }: SnippetRequest) {
      const answer = answers[Math.min(source.asked, answers.length - 1)] ?? '';
      source.asked += 1;
      if (codes.has(answer)) throw new SnippetError(answer as SnippetErrorCode, `Snippet ${id}: ${answer}`);
      return { content: answer, variant: 'render' as const, milliseconds: 5 };
    },
    async close() {},
  };
  return source;
}

/** One run of a build. When it has ended, everything is written. */
async function run<T>(
  source: SnippetSource,
  policy: Partial<CachePolicy>,
  work: (source: CachingSource) => Promise<T>,
  {
    storage = {},
    ...more
  }: { storage?: Partial<StorageOptions> } & Partial<
    Pick<CachingSourceOptions, 'endpoints' | 'isSuperseded' | 'keyOf'>
  > = {},
): Promise<T> {
  const client = new CachingSource(source, {
    cache: new SnippetCache({ driver: undefined, options: undefined, folder, ...storage }, 1000, (line) =>
      warnings.push(line),
    ),
    policy: { maxAge: 0, staleIfError: 0, offline: false, ...policy },
    keyOf: cacheKeys(apiKey),
    endpoints: [{ baseUrl, variant: 'render' }],
    mayKeep: (_request, { content }) => !content.includes(apiKey),
    isSuperseded: () => false,
    ...more,
  });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

describe('maxAge', () => {
  test('a young answer is used without a request, an old one is not', async () => {
    const source = service('first', 'second');
    await run(source, {}, (client) => client.get(createRequest(1)));
    const young = await run(source, { maxAge: 60_000 }, async (client) => [
      await client.get(createRequest(1)),
      client.counts,
    ]);
    expect(young).toMatchObject([
      { content: 'first', variant: 'render', fetchedAt: expect.any(Number) },
      { cached: 1 },
    ]);
    expect(source.asked).toBe(1);
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 61_000);
    expect(await run(source, { maxAge: 60_000 }, (client) => client.get(createRequest(1)))).toMatchObject({
      content: 'second',
    });
    expect(source.asked).toBe(2);
  });

  test('an answer with a date in the future is not used', async () => {
    const source = service('first', 'second');
    const now = Date.now();
    vi.spyOn(Date, 'now').mockReturnValue(now + 3_600_000);
    await run(source, {}, (client) => client.get(createRequest(1)));
    vi.spyOn(Date, 'now').mockReturnValue(now);
    expect(await run(source, { maxAge: 60_000 }, (client) => client.get(createRequest(1)))).toMatchObject({
      content: 'second',
    });
  });

  test('a young answer is not used if the site has already shown a newer one', async () => {
    const source = service('first', 'second');
    await run(source, {}, (client) => client.get(createRequest(1)));
    const got = await run(source, { maxAge: 60_000 }, (client) => client.get(createRequest(1)), {
      isSuperseded: () => true,
    });
    expect(got).toMatchObject({ content: 'second' });
  });

  test.each<[what: string, ...more: Parameters<typeof run>[3][]]>([
    ['another API key', { keyOf: cacheKeys('sk_test_of_someone_else') }],
    ['another base URL', { endpoints: [{ baseUrl: 'https://elsewhere.test', variant: 'render' }] }],
    ['a client of the other variant only', { endpoints: [{ baseUrl, variant: 'retrieve' }] }],
  ])('answers are not shared with %s', async (_what, more) => {
    await run(service('ours'), {}, (client) => client.get(createRequest(1)));
    expect(
      await run(service('theirs'), { maxAge: 60_000 }, (client) => client.get(createRequest(1)), more),
    ).toMatchObject({
      content: 'theirs',
    });
  });

  test('answers are shared with the same params in another order, and not with other params', async () => {
    await run(service('pro'), {}, (client) => client.get(createRequest(1, { plan: 'pro', seats: 2 })));
    const source = service('other');
    const get = (params?: { plan: string; seats?: number }) =>
      run(source, { maxAge: 60_000 }, (client) => client.get(createRequest(1, params)));
    expect(await get({ seats: 2, plan: 'pro' } as never)).toMatchObject({ content: 'pro' });
    expect(await get({ plan: 'pro' })).toMatchObject({ content: 'other' });
    expect(await get()).toMatchObject({ content: 'other' });
  });
});

test.each(['render', 'retrieve'] as const)(
  'the newer of the cached answers of both variants is used: %s',
  async (newer) => {
    const older = newer === 'render' ? 'retrieve' : 'render';
    const endpoints = [
      { baseUrl, variant: 'render' as const },
      { baseUrl, variant: 'retrieve' as const },
    ];
    const answerOf = (variant: 'render' | 'retrieve', content: string) => ({
      ...service(),
      get: async () => ({ content, variant, milliseconds: 5 }),
    });
    const now = Date.now();
    vi.spyOn(Date, 'now').mockReturnValue(now - 1_000);
    await run(answerOf(older, 'old'), {}, (client) => client.get(createRequest(1)), { endpoints });
    vi.spyOn(Date, 'now').mockReturnValue(now);
    await run(answerOf(newer, 'new'), {}, (client) => client.get(createRequest(1)), { endpoints });
    expect(
      await run(service(), { offline: true }, (client) => client.get(createRequest(1)), { endpoints }),
    ).toMatchObject({
      content: 'new',
      variant: newer,
    });
  },
);

describe('staleIfError', () => {
  const rows: [SnippetErrorCode, 'shows' | 'does not show'][] = [
    ['server-error', 'shows'],
    ['network', 'shows'],
    ['timeout', 'shows'],
    ['unauthorized', 'does not show'],
    ['payment-required', 'does not show'],
    ['forbidden', 'does not show'],
    ['not-found', 'does not show'],
  ];
  test.each(rows)('after the error "%s", a build %s the last good content', async (code, outcome) => {
    await run(service('good'), {}, (client) => client.get(createRequest(1)));
    const got = run(service(code), { staleIfError: 60_000 }, (client) => client.get(createRequest(1)));
    if (outcome === 'shows') expect(await got).toMatchObject({ content: 'good', error: { code } });
    else await expect(got).rejects.toMatchObject({ code });
  });

  test('the last good content is not used without the option or when it is too old', async () => {
    await run(service('good'), {}, (client) => client.get(createRequest(1)));
    await expect(
      run(service('server-error'), {}, (client) => client.get(createRequest(1))),
    ).rejects.toMatchObject({
      code: 'server-error',
    });
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 61_000);
    await expect(
      run(service('server-error'), { staleIfError: 60_000 }, (client) => client.get(createRequest(1))),
    ).rejects.toMatchObject({
      code: 'server-error',
    });
  });
});

describe('content that the site has replaced since', () => {
  const replaced = { isSuperseded: () => true };
  const get = (client: CachingSource) => client.get(createRequest(1));

  test('does not come back in an outage, even if a later build does not know that it was replaced', async () => {
    await run(service('old'), {}, get);
    const stale = { staleIfError: 60_000 };
    await expect(run(service('network'), stale, get, replaced)).rejects.toMatchObject({ code: 'network' });
    await expect(run(service('network'), stale, get)).rejects.toMatchObject({ code: 'network' });
  });

  test('does not come back in an outage if it was young enough to be used without a request', async () => {
    await run(service('old'), {}, get);
    const policy = { maxAge: 60_000, staleIfError: 60_000 };
    await expect(run(service('network'), policy, get, replaced)).rejects.toMatchObject({ code: 'network' });
  });

  test('does not come back offline', async () => {
    await run(service('old'), {}, get);
    await expect(run(service(), { offline: true }, get, replaced)).rejects.toMatchObject({
      code: 'not-cached',
      message:
        'Snippet 1 is in the cache only as it was before the site was refreshed, and `offline` is set.',
    });
    await expect(run(service(), { offline: true }, get)).rejects.toMatchObject({ code: 'not-cached' });
  });
});

test('offline returns cached answers of any age without a request, and fails for others', async () => {
  await run(service('good'), {}, (client) => client.get(createRequest(1)));
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 1e12);
  const source = service('new');
  await run(source, { offline: true }, async (client) => {
    expect(await client.get(createRequest(1))).toMatchObject({ content: 'good' });
    await expect(client.get(createRequest(2))).rejects.toMatchObject({
      code: 'not-cached',
      message: 'Snippet 2 is not in the cache, and `offline` is set.',
    });
  });
  expect(source.asked).toBe(0);
});

describe('the cache', () => {
  test('does not contain the API key, in file names or in files', async () => {
    await run(service('good'), {}, (client) => client.get(createRequest(1)));
    const [name = ''] = await readdir(folder);
    expect(name).toMatch(/^[0-9a-f]{64}$/);
    expect(await readFile(join(folder, name), 'utf8')).not.toContain(apiKey);
  });

  test('ignores a file that was cut off at any byte', async () => {
    await run(service('good'), {}, (client) => client.get(createRequest(1)));
    const [name = ''] = await readdir(folder);
    const whole = await readFile(join(folder, name));
    for (let length = 0; length < whole.length; length++) {
      await writeFile(join(folder, name), whole.subarray(0, length));
      const got = await run(service('fresh'), { maxAge: 60_000 }, (client) => client.get(createRequest(1)));
      expect(got.content, `${length} bytes`).toBe('fresh');
    }
    expect(warnings).toEqual([]);
  });

  test('accepts only valid entries from a storage', () => {
    fc.assert(
      fc.property(fc.anything(), (stored) => {
        const entry = readCacheEntry(stored);
        if (entry !== undefined) expect(typeof entry.content).toBe('string');
      }),
    );
  });

  test('ignores a file of random bytes', async () => {
    await run(service('good'), {}, (client) => client.get(createRequest(1)));
    const [name = ''] = await readdir(folder);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        await writeFile(join(folder, name), bytes);
        const got = await run(service('fresh'), { maxAge: 60_000 }, (client) => client.get(createRequest(1)));
        expect(got.content).toBe('fresh');
      }),
      { numRuns: 200 },
    );
  });

  test('warns once if its folder cannot be created', async () => {
    const file = join(folder, 'a-file');
    await writeFile(file, '');
    await run(
      service('good'),
      { maxAge: 60_000 },
      (client) => Promise.all([1, 2, 3].map((id) => client.get(createRequest(id)))),
      { storage: { folder: join(file, 'answers') } },
    );
    expect(warnings).toEqual([
      expect.stringMatching(
        /^The snippet cache failed and is not used for this run: (ENOTDIR|EEXIST|ENOENT)/,
      ),
    ]);
  });

  test('warns once if the disk is full, and still reads from it', async () => {
    await run(service('kept'), {}, (client) => client.get(createRequest(1)));
    const full = {
      ...(await import('unstorage/drivers/fs-lite')).default({ base: folder }),
      async setItem() {
        throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
      },
    };
    await run(
      service('new', 'new', 'server-error'),
      { staleIfError: 60_000 },
      async (client) => {
        await client.get(createRequest(2));
        await client.get(createRequest(3));
        expect(await client.get(createRequest(1))).toMatchObject({ content: 'kept' });
      },
      { storage: { driver: full } },
    );
    expect(warnings).toEqual([expect.stringContaining('ENOSPC')]);
  });

  test('gives up on a storage that hangs after two seconds', async () => {
    const hanging = {
      getItem: () => new Promise<never>(() => {}),
      setItem: () => new Promise<never>(() => {}),
      hasItem: () => false,
      getKeys: () => [],
    };
    const start = performance.now();
    const contents = await run(
      service('good'),
      { maxAge: 60_000 },
      (client) => Promise.all(Array.from({ length: 200 }, (_, id) => client.get(createRequest(id + 1)))),
      { storage: { driver: hanging } },
    );
    expect(contents).toHaveLength(200);
    expect(performance.now() - start).toBeLessThan(30_000);
    expect(warnings).toEqual([expect.stringContaining('no answer within 2 s')]);
  });

  test('is not given up because the process stands still for seconds while it reads 200 files', async () => {
    const storage = { driver: undefined, options: undefined, folder };
    const keys = Array.from({ length: 200 }, (_, id) =>
      cacheKeys(apiKey)({ baseUrl, variant: 'render', id, params: undefined }),
    );
    const filled = new SnippetCache(storage, 1000, () => {});
    for (const key of keys) filled.write(key, { content: key, variant: 'render', fetchedAt: 1 });
    await filled.close();
    const cache = new SnippetCache(storage, 1000, (line) => warnings.push(line));
    const reading = Promise.all(keys.map((key) => cache.read(key)));
    // As Vite does when it bundles, with a few turns of the loop in between.
    for (let pause = 0; pause < 2; pause++) {
      await new Promise((resolve) => setImmediate(resolve));
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_200);
    }
    expect((await reading).map((entry) => entry?.content)).toEqual(keys);
    expect(warnings).toEqual([]);
    await cache.close();
  });

  test('does not store a content that contains the API key', async () => {
    const source = service(`leak: ${apiKey}`);
    await run(source, { maxAge: 60_000 }, (client) => client.get(createRequest(1)));
    expect(await readdir(folder)).toEqual([]);
    await run(source, { maxAge: 60_000 }, (client) => client.get(createRequest(1)));
    expect(source.asked).toBe(2);
  });

  test('tells a storage for how many seconds to keep an answer', async () => {
    const told: unknown[] = [];
    const forgetful = {
      ...storageThat(async () => {}),
      setItem: (_key: string, _value: string, options: unknown) => void told.push(options),
    };
    await run(service('good'), {}, (client) => client.get(createRequest(1)), {
      storage: { driver: forgetful },
    });
    expect(told).toEqual([expect.objectContaining({ ttl: 1 })]);
  });

  const storageThat = (dispose: () => Promise<void>) => ({
    getItem: () => null,
    setItem: () => {},
    hasItem: () => false,
    getKeys: () => [],
    dispose,
  });

  test('ignores an error of a storage while it closes', async () => {
    let disposed = 0;
    const failing = storageThat(async () => {
      disposed += 1;
      throw new Error('the connection is gone');
    });
    const got = run(service('good'), { maxAge: 60_000 }, (client) => client.get(createRequest(1)), {
      storage: { driver: failing },
    });
    expect(await got).toMatchObject({ content: 'good' });
    expect(disposed).toBe(1);
  });

  test('does not wait for a storage that never finishes closing', async () => {
    let disposed = 0;
    const hanging = storageThat(() => {
      disposed += 1;
      return new Promise(() => {});
    });
    const got = run(service('good'), { maxAge: 60_000 }, (client) => client.get(createRequest(1)), {
      storage: { driver: hanging },
    });
    expect(await got).toMatchObject({ content: 'good' });
    expect(disposed).toBe(1);
  });

  test('finishes writing before it closes the storage', async () => {
    const events: string[] = [];
    const slow = {
      ...storageThat(async () => void events.push('closed')),
      async setItem() {
        await new Promise((resolve) => setTimeout(resolve, 50));
        events.push('written');
      },
    };
    await run(service('good'), {}, (client) => client.get(createRequest(1)), { storage: { driver: slow } });
    expect(events).toEqual(['written', 'closed']);
  });

  test('keeps entries complete when two runs write at once', async () => {
    const contents = ['a'.repeat(100_000), 'b'.repeat(100_000)] as const;
    await Promise.all(
      contents.map((content) =>
        run(service(content), {}, (client) =>
          Promise.all([1, 2, 3, 4].map((id) => client.get(createRequest(id)))),
        ),
      ),
    );
    for (const id of [1, 2, 3, 4]) {
      const { content } = await run(service('neither'), { offline: true }, (client) =>
        client.get(createRequest(id)),
      );
      expect(contents).toContain(content);
    }
    expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});

test('closing the cache closes the client of the service with its connections', async () => {
  const server = await httpServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ content: 'good' }));
  });
  const client = new Service({ apiKey, renderBaseUrl: server.origin, ca: certificate.ca });
  try {
    expect(await run(client, {}, (source) => source.get(createRequest(1)))).toMatchObject({
      content: 'good',
    });
    await expect.poll(() => server.openConnections()).toBe(0);
    await expect(client.get(createRequest(1))).rejects.toMatchObject({ code: 'closed' });
  } finally {
    await client.close();
    await server.close();
  }
});
