import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../src/client/clock.ts';
import { parseRequest } from '../../src/client/snippet-request.ts';
import { SnippetFetcher } from '../../src/snippets/snippet-fetcher.ts';
import { httpServer } from '../support/http/tls-server.ts';
import { limitedClientOf, serve } from '../support/http/wire.ts';
import { fakeService, settingsWith } from '../support/service/answers.ts';

// A timer that is set to more than 2 ** 31 - 1 ms fires after 1 ms, and Node warns when it is set.
const year = 365 * 24 * 60 * 60 * 1000;
const warnings: Error[] = [];
const note = (warning: Error) => void warnings.push(warning);
beforeEach(() => {
  warnings.length = 0;
  process.on('warning', note);
});
afterEach(async () => {
  await setImmediate();
  process.off('warning', note);
  expect(warnings).toEqual([]);
});

test.for([25 * 24 * 60 * 60 * 1000, year, Number.POSITIVE_INFINITY])(
  'a wait of %s ms does not end at once, and ends when it is aborted',
  async (milliseconds) => {
    const caller = new AbortController();
    const waited = systemClock.wait(milliseconds, caller.signal);
    caller.abort('enough');
    await expect(waited).rejects.toBe('enough');
  },
);

test('all snippets may have a time limit of a year', async () => {
  const use = { request: parseRequest('42', undefined), places: ['index.html'], placesWithoutChildren: [] };
  const { parts } = fakeService('fine');
  const fetcher = new SnippetFetcher(settingsWith({ timeout: year }), {
    remember: true,
    parts,
    warn: () => {},
  });
  const fetched = await fetcher.fetch([{ ...use, asHtml: true }]);
  await fetcher.close();
  expect(fetched.size).toBe(1);
});

test.for([true, false])('each limit of a client may be a year (HTTP/2: %s)', async (http2) => {
  const server = await serve(httpServer((_, response) => response.end('{"content":"fine"}'), { http2 }));
  const limits = { attemptTimeout: year, connectTimeout: year, idleTimeout: year, deadline: year };
  expect(await limitedClientOf(server, limits).get(42)).toMatchObject({ content: 'fine' });
});
