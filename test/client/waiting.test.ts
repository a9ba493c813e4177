import { describe, expect, test } from 'vitest';
import { Breaker } from '../../src/client/breaker.ts';
import { SnippetClient, SnippetError } from '../../src/client/index.ts';
import { defaultLimits } from '../../src/client/limits.ts';
import { parseRetryAfter } from '../../src/client/retry-after.ts';
import { retryDelay } from '../../src/client/retry-delay.ts';
import { instantClock, virtualClock } from '../support/clock.ts';
import {
  answer,
  answerRequests,
  apiKey,
  json,
  problem,
  renderBaseUrl,
  retrieveBaseUrl,
} from '../support/network.ts';

answerRequests();

const content = json({ content: 'rendered' });

async function failureOf(promise: Promise<unknown>): Promise<SnippetError> {
  const error = await promise.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(SnippetError);
  return error as SnippetError;
}

test.for([
  // failures so far, chance, milliseconds
  [1, 0, 0],
  [1, 0.5, 250],
  [1, 1, 500],
  [2, 1, 1000],
  [3, 1, 2000],
  [4, 1, 4000],
  [5, 1, 8000],
  [6, 1, 8000],
  [60, 0.25, 2000],
] as const)('after %i failures and with chance %f, the wait is %i ms', ([failures, chance, milliseconds]) => {
  expect(retryDelay(failures, chance, defaultLimits)).toBe(milliseconds);
});

const now = Date.parse('2026-01-01T00:00:00Z');
test.for([
  ['0', 0],
  ['7', 7_000],
  [' 7 ', 7_000],
  ['1000000000', 1e12],
  ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
  ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
  [undefined, undefined],
  ['', undefined],
  ['-5', undefined],
  ['1.5', undefined],
  ['1e9', undefined],
  ['soon', undefined],
  ['2026-01-01T00:00:30Z', undefined],
  ['Thu, 99 Jan 2026 00:00:30 GMT', undefined],
] as const)('Retry-After: %s is %s ms', ([header, milliseconds]) => {
  expect(parseRetryAfter(header, now)).toBe(milliseconds);
});

test('the waits between attempts grow, and none follows the last one', async () => {
  answer({ retrieve: [problem(503)] });
  const clock = instantClock({ random: 1 });
  const client = new SnippetClient({ apiKey, retrieveBaseUrl }, clock);
  await failureOf(client.get(42));
  expect(clock.waits).toEqual([500, 1000, 2000, 4000]);
  await client.close();
});

test('no attempt begins after the deadline', async () => {
  answer({ retrieve: [problem(503)] });
  const clock = instantClock({ random: 1 });
  const client = new SnippetClient({ apiKey, retrieveBaseUrl, limits: { deadline: 1400 } }, clock);
  expect(await failureOf(client.get(42))).toMatchObject({ code: 'server-error', attempts: 2 });
  expect(clock.waits).toEqual([500]);
  await client.close();
});

describe('Retry-After', () => {
  test('holds every worker back, and says so once', async () => {
    const clock = virtualClock();
    const sent: number[] = [];
    const respond = (first: boolean) => (first ? problem(503, {}, { 'retry-after': '30' }) : content)();
    answer({
      render: [
        () => {
          sent.push(clock.advanced());
          return respond(sent.length === 1);
        },
      ],
    });
    const notices: unknown[] = [];
    const client = new SnippetClient(
      { apiKey, renderBaseUrl, concurrency: 1, onNotice: (notice) => notices.push(notice) },
      clock,
    );
    const contents = await Promise.all([1, 2, 3].map((id) => client.get(id)));
    expect(contents).toHaveLength(3);
    expect(sent[0]).toBe(0);
    for (const at of sent.slice(1)) expect(at).toBeGreaterThanOrEqual(30_000);
    expect(notices).toEqual([{ kind: 'held', origin: 'https://render.test', milliseconds: 30_000 }]);
    await client.close();
  });

  test('beyond a minute fails at once, says how long, and lets no later request through', async () => {
    const { asked } = answer({ render: [problem(429, {}, { 'retry-after': '1000000000' })] });
    const clock = instantClock();
    const client = new SnippetClient({ apiKey, renderBaseUrl }, clock);
    const first = await failureOf(client.get(1));
    expect(first).toMatchObject({ code: 'rate-limited', attempts: 1 });
    expect(first.message).toContain('the service asks to be left alone for 277778 h');
    expect(await failureOf(client.get(2))).toMatchObject({ code: 'rate-limited', attempts: 0 });
    expect(asked).toHaveLength(1);
    await client.close();
  });

  test('of variant B does not keep variant A on another host from answering', async () => {
    const { asked } = answer({
      render: [problem(503, {}, { 'retry-after': '20' })],
      retrieve: [json({ id: 1, content: 'retrieved' })],
    });
    const clock = instantClock();
    const client = new SnippetClient({ apiKey, renderBaseUrl, retrieveBaseUrl }, clock);
    expect(await client.get(1)).toMatchObject({ content: 'retrieved', variant: 'retrieve' });
    expect(asked.map((request) => request.split(' ')[0])).toEqual(['render', 'render', 'retrieve']);
    await client.close();
  });
});

describe('the breaker', () => {
  const failing = (breaker: Breaker, times: number, at = 0) => {
    for (let index = 0; index < times; index++) breaker.record(false, at);
  };

  test('opens with the twentieth attempt at the earliest', () => {
    const breaker = new Breaker(defaultLimits);
    failing(breaker, 19);
    expect(breaker.permission(0)).toBe('go');
    expect(breaker.record(false, 0)).toBe('opened');
    expect(breaker.permission(0)).toEqual({ waitUntil: 15_000 });
  });

  test('opens at half of the last fifty, and not below', () => {
    const breaker = new Breaker(defaultLimits);
    for (let index = 0; index < 50; index++) breaker.record(true, 0);
    failing(breaker, 24);
    expect(breaker.isOpen).toBe(false);
    expect(breaker.record(false, 0)).toBe('opened');
  });

  test('lets one probe through every 15 s, and gives up after 90 s without a success', () => {
    const breaker = new Breaker(defaultLimits);
    failing(breaker, 20);
    expect(breaker.permission(14_999)).toEqual({ waitUntil: 15_000 });
    expect(breaker.permission(15_000)).toBe('go');
    expect(breaker.permission(15_000)).toEqual({ waitUntil: 30_000 });
    expect(breaker.permission(80_000)).toBe('go');
    expect(breaker.permission(80_001)).toEqual({ waitUntil: 90_000 });
    expect(breaker.permission(90_000)).toEqual({ failingSince: 0 });
    // A later one is a probe again: a service that comes back is found.
    expect(breaker.permission(95_000)).toBe('go');
  });

  test('closes with a success, and forgets what was before', () => {
    const breaker = new Breaker(defaultLimits);
    failing(breaker, 20);
    expect(breaker.record(true, 20_000)).toBe('closed');
    failing(breaker, 18, 30_000);
    expect(breaker.permission(30_000)).toBe('go');
    expect(breaker.record(false, 30_000)).toBe('opened');
  });

  test('where B fails for everyone and A answers, nobody waits for B', async () => {
    const { asked } = answer({
      render: [problem(503)],
      retrieve: [json({ id: 1, content: 'retrieved' })],
    });
    const clock = virtualClock();
    const client = new SnippetClient(
      { apiKey, renderBaseUrl, retrieveBaseUrl, limits: { fallbacksInARow: 1_000_000 } },
      clock,
    );
    const contents = await Promise.all(Array.from({ length: 100 }, () => client.get(1)));
    expect(contents).toHaveLength(100);
    expect(clock.advanced()).toBeLessThan(15_000);
    expect(asked.filter((request) => request.startsWith('render')).length).toBeLessThan(45);
    await client.close();
  });
});
