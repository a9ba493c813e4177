import { describe, expect, onTestFinished, test } from 'vitest';
import { type Notice, SnippetClient, type SnippetClientOptions } from '../../src/client/index.ts';
import { parseRetryAfter, readResponse } from '../../src/client/read-response.ts';
import {
  answer,
  answerRequests,
  apiKey,
  json,
  problem,
  renderBaseUrl,
  retrieveBaseUrl,
} from '../support/http/network.ts';
import { instantClock, type TestClock, virtualClock } from '../support/service/clock.ts';
import { failureOf } from '../support/tools/failure.ts';

answerRequests();

const content = json({ content: 'rendered' });

/** A client with the longest possible waits, by default with variant B alone. */
function open(options: Partial<SnippetClientOptions> = {}, clock: TestClock = instantClock({ random: 1 })) {
  const notices: Notice[] = [];
  const client = new SnippetClient(
    { apiKey, renderBaseUrl, patience: 0, onNotice: (notice) => notices.push(notice), ...options },
    { clock },
  );
  onTestFinished(() => client.close());
  return { client, clock, notices };
}

const hold = (seconds: string, status = 503) => problem(status, {}, { 'retry-after': seconds });

const now = Date.parse('2026-01-01T00:00:00Z');
test.for([
  ['0', 0],
  ['7', 7_000],
  [' 7 ', 7_000],
  ['1000000000', 1e12],
  ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
  ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
  // The two obsolete forms (RFC 9110, section 5.6.7), which recipients have to accept.
  ['Thursday, 01-Jan-26 00:00:30 GMT', 30_000],
  ['Thu Jan  1 00:00:30 2026', 30_000],
  [undefined, undefined],
  ['', undefined],
  ['-5', undefined],
  ['1.5', undefined],
  ['1e9', undefined],
  ['soon', undefined],
  ['2026-01-01T00:00:30Z', undefined],
  ['Thu, 99 Jan 2026 00:00:30 GMT', undefined],
  ['Thu, 01 Jan 2026 00:00:30 CET', undefined],
  ['Thu Jan 99 00:00:30 2026', undefined],
] as const)('the header "Retry-After: %s" is parsed as %s ms', ([header, milliseconds]) => {
  expect(parseRetryAfter(header, now)).toBe(milliseconds);
});

test.for([
  ['an hour behind', 'Wed, 31 Dec 2025 23:00:00 GMT', 'Wed, 31 Dec 2025 23:00:30 GMT', 30_000],
  ['an hour ahead', 'Thu, 01 Jan 2026 01:00:00 GMT', 'Thu, 01 Jan 2026 01:00:30 GMT', 30_000],
  ['on time, with seconds', 'Thu, 01 Jan 2026 00:00:00 GMT', '30', 30_000],
  ['of no use', 'soon', 'Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
  ['missing', undefined, 'Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
] as const)('a date in Retry-After counts from the date of the answer: %s', ([, date, retryAfter, wait]) => {
  const response = { status: 503, contentType: '', retryAfter, date, body: Buffer.alloc(0) };
  expect(readResponse(response, 'render', 42, now).retryAfter).toBe(wait);
});

test('a server whose clock is an hour ahead is waited for as long as it asks', async () => {
  const later = (milliseconds: number) => new Date(Date.now() + milliseconds).toUTCString();
  const headers = { date: later(3_600_000), 'retry-after': later(3_605_000) };
  answer({ render: [problem(503, {}, headers), json({ content: 'x' })] });
  const { client, notices } = open();
  expect(await client.get(42)).toMatchObject({ content: 'x' });
  expect(notices).toEqual([{ kind: 'held', origin: expect.any(String), milliseconds: 5_000 }]);
});

test('waits between attempts grow, and the last attempt is not followed by a wait', async () => {
  answer({ render: [problem(503)] });
  const { client, clock } = open();
  await failureOf(client.get(42));
  expect(clock.waits).toEqual([500, 1000, 2000, 4000]);
});

test.for([
  // The first two waits are 500 ms and 1 s.
  [1_400, 2],
  [1_500, 2],
  [1_501, 3],
] as const)(
  'a deadline of %i ms allows %i attempts, but not one at the deadline',
  async ([deadline, attempts]) => {
    const { asked } = answer({ render: [problem(503)] });
    const { client, clock } = open({ limits: { deadline } });
    expect(await failureOf(client.get(42))).toMatchObject({ code: 'server-error', attempts });
    expect(asked).toHaveLength(attempts);
    expect(clock.waits).toEqual([500, 1_000].slice(0, attempts - 1));
  },
);

test('an attempt ends at the deadline even if it may take longer', async () => {
  answer({ render: [() => new Promise<never>(() => {})] });
  const { client } = open({ limits: { attempts: 1, deadline: 300 } });
  const error = await failureOf(client.get(42));
  expect(error).toMatchObject({ code: 'timeout', attempts: 1 });
  expect(error.message).toContain('no complete answer within 0.3 s');
});

test('waits start short again after a fallback to variant A', async () => {
  answer({ render: [problem(503)], retrieve: [problem(503)] });
  const { client, clock } = open({ retrieveBaseUrl });
  await failureOf(client.get(42));
  expect(clock.waits).toEqual([500, 500, 1000]);
});

test('the first request to variant A after a fallback is not counted as a retry', async () => {
  answer({ render: [problem(503)], retrieve: [problem(503), json({ id: 42, content: 'x' })] });
  const { client } = open({ retrieveBaseUrl });
  await client.get(42);
  expect(client.counts).toEqual({ requests: 4, retries: 2, fallbacks: 1 });
});

describe('Retry-After', () => {
  const arrives = { content: 'rendered' };
  const tooLong = {
    code: 'rate-limited',
    attempts: 1,
    message: expect.stringMatching(/: the service asks to wait [36]1s$/),
  };
  test.for<[seconds: string, limits: SnippetClientOptions['limits'], outcome: object, ...counts: number[]]>([
    ['60', {}, arrives, 2, 1],
    // A wait that is too long is not announced.
    ['61', {}, tooLong, 1, 0],
    // The wait would end after the deadline of the snippet.
    ['31', { deadline: 30_000 }, tooLong, 1, 1],
  ])(
    'of %s s with the limits %o gives %o after %i requests, with %i notices',
    async ([seconds, limits, outcome, requests, announced]) => {
      const { asked } = answer({ render: [hold(seconds), content] });
      const { client, clock, notices } = open(limits && { limits });
      const start = clock.now();
      expect(await client.get(1).catch((error: unknown) => error)).toMatchObject(outcome);
      expect(asked).toHaveLength(requests ?? 0);
      expect(notices).toHaveLength(announced ?? 0);
      if (outcome === tooLong) expect(clock.now() - start).toBeLessThan(1_000);
    },
  );

  test.for([
    ['60', arrives],
    ['61', { code: 'rate-limited', attempts: 0 }],
  ] as const)('of %s s for an earlier snippet gives %o', async ([seconds, outcome]) => {
    answer({ render: [hold(seconds), content] });
    const { client } = open({ limits: { attempts: 1 } });
    await failureOf(client.get(1));
    expect(await client.get(2).catch((error: unknown) => error)).toMatchObject(outcome);
  });

  test.for([
    ['61', '61s', '60.5s'],
    ['120', '2m', '119.5s'],
    ['121', '3m', '3m'],
    ['1000000000', '11,575d', '11,575d'],
  ] as const)(
    'of %s s is reported as %s, and half a second later as %s',
    async ([seconds, first, second]) => {
      const { asked } = answer({ render: [hold(seconds, 429)] });
      const { client, clock } = open({ limits: { attempts: 1 } });
      expect((await failureOf(client.get(1))).message).toBe(
        `Snippet 1 could not be rendered: 429 Title 429: Detail of 429., retry after ${first}`,
      );
      await clock.wait(500);
      expect((await failureOf(client.get(2))).message).toBe(
        `Snippet 2 could not be rendered: the service asks to wait ${second}`,
      );
      expect(asked).toHaveLength(1);
    },
  );

  test('is announced once per pause', async () => {
    answer({ render: [hold('20'), hold('30'), content, hold('10'), content] });
    const { client, notices } = open({ concurrency: 2 }, virtualClock({ quietFor: 50 }));
    // Two at once, both held, and another one later.
    await Promise.all([client.get(1), client.get(2)]);
    await client.get(3);
    const lengths = notices.map((notice) => notice.kind === 'held' && notice.milliseconds);
    expect(lengths).toHaveLength(2);
    expect(lengths[1]).toBe(10_000);
  });

  test('of variant B does not delay variant A on another host', async () => {
    const { asked } = answer({ render: [hold('20')], retrieve: [json({ id: 1, content: 'retrieved' })] });
    const { client } = open({ retrieveBaseUrl });
    expect(await client.get(1)).toMatchObject({ content: 'retrieved', variant: 'retrieve' });
    expect(asked.map((request) => request.split(' ')[0])).toEqual(['render', 'render', 'retrieve']);
  });
});
