import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Driver } from 'unstorage';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createRequest } from '../../src/client/snippet-request.ts';
import { AnswerSource, type CachePolicy } from '../../src/snippets/answers.ts';
import { apiKey, type Failing, fakeService as service, settingsWith } from '../support/service/answers.ts';
import { folderWith } from '../support/site/folder.ts';

let folder: string;
let warnings: string[];

beforeEach(async () => {
  ({ directory: folder } = await folderWith({}));
  warnings = [];
});
afterEach(() => {
  vi.restoreAllMocks();
});

const failing = (fails: Failing) => ({ fails });

interface RunOptions extends Pick<CachePolicy, 'isSuperseded'> {
  maxAge?: number;
  staleIfError?: number;
  offline?: boolean;
  driver?: Driver;
  folder?: string;
  apiKey?: string;
  renderBaseUrl?: string | undefined;
  retrieveBaseUrl?: string;
}

const first = (answers: AnswerSource) => answers.get(createRequest(1));

/** Runs one build, which gets snippet 1 by default, and waits until everything is written. */
async function run<T = Awaited<ReturnType<typeof first>>>(
  { parts }: ReturnType<typeof service>,
  { driver, folder: files = folder, maxAge = 0, isSuperseded, ...more }: RunOptions = {},
  work: (answers: AnswerSource) => Promise<T> = first as never,
): Promise<T> {
  const cache = { driver, options: undefined, maxAge };
  const answers = new AnswerSource(settingsWith({ patience: 0, cache, answerFolder: files, ...more }), {
    remember: true,
    parts,
    isSuperseded,
    warn: (line) => warnings.push(line),
  });
  try {
    return await work(answers);
  } finally {
    await answers.close();
  }
}

/** Moves the current time forward. */
const later = (milliseconds: number) => void vi.spyOn(Date, 'now').mockReturnValue(Date.now() + milliseconds);

describe('maxAge', () => {
  test('a young answer is used without a request, an old one is not', async () => {
    const source = service('first', 'second');
    await run(source);
    const young = await run(source, { maxAge: 60_000 }, async (client) => [
      await first(client),
      client.counts,
    ]);
    expect(young).toMatchObject([
      { content: 'first', variant: 'render', fetchedAt: expect.any(Number) },
      { cached: 1 },
    ]);
    expect(source.asked).toBe(1);
    later(61_000);
    // Offline, the age does not matter.
    expect(await run(source, { offline: true })).toMatchObject({ content: 'first' });
    expect(await run(source, { maxAge: 60_000 })).toMatchObject({ content: 'second' });
    expect(source.asked).toBe(2);
  });

  test('an answer with a date in the future is not used', async () => {
    later(3_600_000);
    await run(service('first'));
    vi.restoreAllMocks();
    expect(await run(service('second'), { maxAge: 60_000 })).toMatchObject({ content: 'second' });
  });

  test.each<[what: string, more: RunOptions]>([
    ['a site that has already shown a newer one', { isSuperseded: () => true }],
    ['another API key', { apiKey: 'sk_test_of_someone_else' }],
    ['another base URL', { renderBaseUrl: 'https://elsewhere.test' }],
    ['a second base URL', { retrieveBaseUrl: 'https://retrieve.test' }],
  ])('a young answer is not used for %s', async (_what, more) => {
    await run(service('ours'));
    expect(await run(service('theirs'), { maxAge: 60_000, ...more })).toMatchObject({ content: 'theirs' });
  });

  test('answers are shared with the same params in another order, and not with other params', async () => {
    const get = (source: ReturnType<typeof service>, params?: Record<string, string | number>) =>
      run(source, { maxAge: 60_000 }, (client) => client.get(createRequest(1, params)));
    await get(service('pro'), { plan: 'pro', seats: 2 });
    const source = service('other');
    expect(await get(source, { seats: 2, plan: 'pro' })).toMatchObject({ content: 'pro' });
    expect(await get(source, { plan: 'pro' })).toMatchObject({ content: 'other' });
    expect(await get(source)).toMatchObject({ content: 'other' });
  });
});

describe('staleIfError', () => {
  test.each([
    ['server-error', 500],
    ['network', 'network'],
    ['timeout', 'timeout'],
  ] as const)(
    'after the error "%s", a build shows the last good content, unless it is too old',
    async (code, how) => {
      const fails = service(failing(how));
      await run(service('good'));
      expect(await run(fails, { staleIfError: 60_000 })).toMatchObject({ content: 'good', error: { code } });
      await expect(run(fails)).rejects.toMatchObject({ code });
      later(61_000);
      await expect(run(fails, { staleIfError: 60_000 })).rejects.toMatchObject({ code });
    },
  );

  test.each([
    ['unauthorized', 401],
    ['payment-required', 402],
    ['forbidden', 403],
    ['not-found', 404],
  ] as const)('after the error "%s", a build does not show the last good content', async (code, status) => {
    await run(service('good'));
    await expect(run(service(failing(status)), { staleIfError: 60_000 })).rejects.toMatchObject({ code });
  });
});

describe('the files of the cache', () => {
  async function fileOfOne() {
    await run(service('good'));
    const [name = ''] = await readdir(folder);
    return { name, file: join(folder, name), whole: await readFile(join(folder, name)) };
  }

  test('do not contain the API key, neither in their names nor in their content', async () => {
    const { name, whole } = await fileOfOne();
    expect(name).toMatch(/^[0-9a-f]{64}$/);
    expect(whole.toString()).not.toContain(apiKey);
  });

  test('are ignored if they were cut off at any byte', async () => {
    const { file, whole } = await fileOfOne();
    for (let length = 0; length < whole.length; length++) {
      await writeFile(file, whole.subarray(0, length));
      const { content } = await run(service('fresh'), { maxAge: 60_000 });
      expect(content, `${length} bytes`).toBe('fresh');
    }
    expect(warnings).toEqual([]);
  });

  test('hold no snippet that contains the API key', async () => {
    const source = service(`leak: ${apiKey}`);
    await run(source, { maxAge: 60_000 });
    expect(await readdir(folder)).toEqual([]);
    await run(source, { maxAge: 60_000 });
    expect(source.asked).toBe(2);
  });

  test('are complete when two runs write at once', async () => {
    const contents = ['a'.repeat(100_000), 'b'.repeat(100_000)] as const;
    const ids = [1, 2, 3, 4];
    const getAll = (client: AnswerSource) => Promise.all(ids.map((id) => client.get(createRequest(id))));
    await Promise.all(contents.map((content) => run(service(content), {}, getAll)));
    for (const { content } of await run(service('neither'), { offline: true }, getAll)) {
      expect(contents).toContain(content);
    }
    expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('are not used for a run, with one warning, if their folder cannot be created', async () => {
    const file = join(folder, 'a-file');
    await writeFile(file, '');
    const three = [1, 2, 3].map((id) => createRequest(id));
    await run(service('good'), { maxAge: 60_000, folder: join(file, 'answers') }, (client) =>
      Promise.all(three.map((request) => client.get(request))),
    );
    expect(warnings).toEqual([
      expect.stringMatching(
        /^The snippet cache failed and is not used for this run: (ENOTDIR|EEXIST|ENOENT)/,
      ),
    ]);
  });

  test('are still read if the disk is full, with one warning', async () => {
    await run(service('kept'));
    const driver = {
      ...(await import('unstorage/drivers/fs-lite')).default({ base: folder }),
      async setItem() {
        throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
      },
    };
    const source = service('new', 'new', failing(500));
    await run(source, { staleIfError: 60_000, driver }, async (client) => {
      await client.get(createRequest(2));
      await client.get(createRequest(3));
      expect(await first(client)).toMatchObject({ content: 'kept' });
    });
    expect(warnings).toEqual([expect.stringContaining('ENOSPC')]);
  });
});

describe('a storage', () => {
  const never = () => new Promise<never>(() => {});
  const storage = (more: Partial<Driver>): Driver => ({
    getItem: () => null,
    setItem: () => {},
    hasItem: () => false,
    getKeys: () => [],
    ...more,
  });

  /** Advances the timers that wait for a storage. */
  async function pass(milliseconds: number) {
    for (let left = milliseconds; left > 0; left -= 200) {
      vi.advanceTimersByTime(200);
      await setImmediate();
    }
  }
  function holdTime() {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
  }

  test('that hangs is given up after two seconds', async () => {
    holdTime();
    const driver = storage({ getItem: never, setItem: never });
    let arrived = 0;
    const running = run(service('good'), { maxAge: 60_000, driver }, (client) =>
      Promise.all(
        Array.from({ length: 200 }, async (_, id) => {
          await client.get(createRequest(id + 1));
          arrived += 1;
        }),
      ),
    );
    await pass(1_800);
    expect(arrived).toBe(0);
    await pass(400);
    await expect.poll(() => arrived).toBe(200);
    await pass(2_200);
    await running;
    expect(warnings).toEqual([expect.stringContaining('no answer within 2 s')]);
  });

  test('that fails to close, or never finishes, is abandoned', async () => {
    holdTime();
    const disposed = vi.fn<() => Promise<never>>();
    const driver = storage({ dispose: disposed });
    disposed.mockRejectedValueOnce(new Error('the connection is gone'));
    expect(await run(service('good'), { maxAge: 60_000, driver })).toMatchObject({ content: 'good' });
    disposed.mockImplementationOnce(never);
    const running = run(service('good'), { maxAge: 60_000, driver });
    await expect.poll(() => disposed).toHaveBeenCalledTimes(2);
    await pass(2_200);
    expect(await running).toMatchObject({ content: 'good' });
  });
});
