import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../src/client/clock.ts';
import { parseRequest } from '../../src/client/snippet-request.ts';
import { withoutRules } from '../../src/html/rules.ts';
import { fetchAll } from '../../src/snippets/fetch-snippets.ts';
import { httpServer } from '../support/tls-server.ts';
import { limitedClientOf, serve } from '../support/wire.ts';

// A timer that is set to more than 2 ** 31 - 1 ms fires after 1 ms, with a warning.
const year = 365 * 24 * 60 * 60 * 1000;
const warnings: Error[] = [];
const note = (warning: Error) => void warnings.push(warning);
beforeEach(() => {
  warnings.length = 0;
  process.on('warning', note);
});
afterEach(() => {
  process.off('warning', note);
});

test.for([
  ['25 days', 25 * 24 * 60 * 60 * 1000],
  ['a year', year],
  ['an endless time', Number.POSITIVE_INFINITY],
] as const)('a wait of %s does not end at once, and ends when it is aborted', async ([, milliseconds]) => {
  const caller = new AbortController();
  const waited = systemClock.wait(milliseconds, caller.signal);
  const first = await Promise.race([waited.then(() => 'ended'), sleep(50).then(() => 'waits')]);
  expect(first).toBe('waits');
  caller.abort('enough');
  await expect(waited).rejects.toBe('enough');
  expect(warnings).toEqual([]);
});

test('with a time limit of a year for all snippets, one that takes a moment arrives', async () => {
  const use = { request: parseRequest('42', undefined), places: ['index.html'], placesWithoutChildren: [] };
  const { fetched, failed } = await fetchAll(
    [{ ...use, asHtml: true }],
    async (_, signal) => {
      await Promise.race([sleep(50), once(signal, 'abort')]);
      signal.throwIfAborted();
      return { content: '', variant: 'render', milliseconds: 50, ...withoutRules('') };
    },
    { timeout: year },
  );
  expect(failed).toEqual([]);
  expect(fetched.size).toBe(1);
  expect(warnings).toEqual([]);
});

test.for([true, false])(
  'with limits of a year, an answer that takes a moment arrives (HTTP/2: %s)',
  async (http2) => {
    const server = await serve(
      httpServer(
        async (_, response) => {
          await sleep(50);
          response.end('{"content":"late"}');
        },
        { http2 },
      ),
    );
    const limits = { attemptTimeout: year, connectTimeout: year, idleTimeout: year, deadline: year };
    expect(await limitedClientOf(server, limits).get(42)).toMatchObject({ content: 'late' });
    expect(warnings).toEqual([]);
  },
);
