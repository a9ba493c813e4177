import { describe, expect, test } from 'vitest';
import { SnippetClient, SnippetError } from '../../src/client/index.ts';
import { parseRetryAfter } from '../../src/client/retry-policy.ts';
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
] as const)('the header "Retry-After: %s" is parsed as %s ms', ([header, milliseconds]) => {
  expect(parseRetryAfter(header, now)).toBe(milliseconds);
});

test('waits between attempts grow, and there is none after the last attempt', async () => {
  answer({ retrieve: [problem(503)] });
  const clock = instantClock({ random: 1 });
  const client = new SnippetClient({ apiKey, retrieveBaseUrl }, clock);
  await failureOf(client.get(42));
  expect(clock.waits).toEqual([500, 1000, 2000, 4000]);
  await client.close();
});

test('no attempt starts after the deadline', async () => {
  answer({ retrieve: [problem(503)] });
  const clock = instantClock({ random: 1 });
  const client = new SnippetClient({ apiKey, retrieveBaseUrl, limits: { deadline: 1400 } }, clock);
  expect(await failureOf(client.get(42))).toMatchObject({ code: 'server-error', attempts: 2 });
  expect(clock.waits).toEqual([500]);
  await client.close();
});

test.for([
  // The first two waits are 500 ms and 1 s.
  [1_500, 2],
  [1_501, 3],
] as const)(
  'a deadline of %i ms allows %i attempts, and none at the deadline itself',
  async ([deadline, attempts]) => {
    const { asked } = answer({ retrieve: [problem(503)] });
    const clock = instantClock({ random: 1 });
    const client = new SnippetClient({ apiKey, retrieveBaseUrl, limits: { deadline } }, clock);
    expect(await failureOf(client.get(42))).toMatchObject({ attempts });
    expect(asked).toHaveLength(attempts);
    await client.close();
  },
);

test('an attempt ends at the deadline even if it may take longer', async () => {
  answer({ retrieve: [() => new Promise<never>(() => {})] });
  const client = new SnippetClient(
    { apiKey, retrieveBaseUrl, limits: { attempts: 1, deadline: 300 } },
    instantClock(),
  );
  const error = await failureOf(client.get(42));
  expect(error).toMatchObject({ code: 'timeout', attempts: 1 });
  expect(error.message).toContain('no complete answer within 0.3 s');
  await client.close();
});

test('waits start short again after a fallback to variant A', async () => {
  answer({ render: [problem(503)], retrieve: [problem(503)] });
  const clock = instantClock({ random: 1 });
  const client = new SnippetClient({ apiKey, renderBaseUrl, retrieveBaseUrl }, clock);
  await failureOf(client.get(42));
  expect(clock.waits).toEqual([500, 500, 1000]);
  await client.close();
});

test('the first request to variant A after a fallback is not counted as a retry', async () => {
  answer({ render: [problem(503)], retrieve: [problem(503), json({ id: 42, content: 'x' })] });
  const client = new SnippetClient({ apiKey, renderBaseUrl, retrieveBaseUrl }, instantClock());
  await client.get(42);
  expect(client.counts).toEqual({ requests: 4, retries: 2, fallbacks: 1 });
  await client.close();
});

describe('Retry-After', () => {
  test.for([
    ['60', { content: 'rendered' }, 2],
    ['61', { code: 'rate-limited', attempts: 1 }, 1],
  ] as const)('of %s s gives %o after %i requests', async ([seconds, outcome, requests]) => {
    const { asked } = answer({ render: [problem(503, {}, { 'retry-after': seconds }), content] });
    const notices: unknown[] = [];
    const client = new SnippetClient(
      { apiKey, renderBaseUrl, onNotice: (notice) => notices.push(notice) },
      instantClock(),
    );
    expect(await client.get(1).catch((error: unknown) => error)).toMatchObject(outcome);
    expect(asked).toHaveLength(requests);
    // A wait that is too long to be waited for is not announced.
    expect(notices).toHaveLength(requests - 1);
    await client.close();
  });

  test('of 60 s delays a later snippet, and of 61 s fails it', async () => {
    for (const [seconds, outcome] of [
      ['60', { content: 'rendered' }],
      ['61', { code: 'rate-limited', attempts: 0 }],
    ] as const) {
      answer({ render: [problem(503, {}, { 'retry-after': seconds }), content] });
      const client = new SnippetClient({ apiKey, renderBaseUrl, limits: { attempts: 1 } }, instantClock());
      await failureOf(client.get(1));
      expect(await client.get(2).catch((error: unknown) => error)).toMatchObject(outcome);
      await client.close();
    }
  });

  test.for([
    ['61', '61s', '60.5s'],
    ['119', '119s', '118.5s'],
    ['120', '2m', '119.5s'],
    ['121', '3m', '3m'],
    ['7140', '119m', '119m'],
    ['7141', '2h', '2h'],
  ] as const)(
    'of %s s is reported as %s, and half a second later as %s',
    async ([seconds, first, second]) => {
      answer({ render: [problem(429, {}, { 'retry-after': seconds })] });
      const clock = instantClock();
      const client = new SnippetClient({ apiKey, renderBaseUrl, limits: { attempts: 1 } }, clock);
      expect((await failureOf(client.get(1))).message).toBe(
        `Snippet 1 could not be rendered: 429 Title 429: Detail of 429., retry after ${first}`,
      );
      await clock.wait(500);
      expect((await failureOf(client.get(2))).message).toBe(
        `Snippet 2 could not be rendered: the service asks to wait ${second}`,
      );
      await client.close();
    },
  );

  test('that ends after the deadline of a snippet fails the snippet at once', async () => {
    const { asked } = answer({ render: [problem(503, {}, { 'retry-after': '31' })] });
    const clock = instantClock();
    const client = new SnippetClient({ apiKey, renderBaseUrl, limits: { deadline: 30_000 } }, clock);
    expect(await failureOf(client.get(1))).toMatchObject({ code: 'rate-limited', attempts: 1 });
    expect(clock.now() - Date.parse('2026-01-01T00:00:00Z')).toBeLessThan(1_000);
    expect(asked).toHaveLength(1);
    await client.close();
  });

  test('is not shortened by a shorter Retry-After that follows', async () => {
    const clock = virtualClock({ quietFor: 50 });
    const sent: number[] = [];
    const seconds = ['1', '2', '40', '3', '1'];
    answer({
      render: [
        () => {
          sent.push(clock.advanced());
          const header = seconds[sent.length - 1];
          return (header === undefined ? content : problem(503, {}, { 'retry-after': header }))();
        },
      ],
    });
    const client = new SnippetClient({ apiKey, renderBaseUrl, concurrency: 5 }, clock);
    await Promise.all([1, 2, 3, 4, 5].map((id) => client.get(id)));
    expect(sent.slice(0, 5)).toEqual([0, 0, 0, 0, 0]);
    for (const at of sent.slice(5)) expect(at).toBeGreaterThanOrEqual(40_000);
    await client.close();
  });

  test('is announced once per pause', async () => {
    const clock = virtualClock({ quietFor: 50 });
    const waits = ['20', '30', undefined, '10', undefined];
    let next = 0;
    answer({
      render: [
        () => {
          const header = waits[next++];
          return (header === undefined ? content : problem(503, {}, { 'retry-after': header }))();
        },
      ],
    });
    const lengths: number[] = [];
    const client = new SnippetClient(
      {
        apiKey,
        renderBaseUrl,
        concurrency: 2,
        onNotice: (notice) => notice.kind === 'held' && lengths.push(notice.milliseconds),
      },
      clock,
    );
    // Two at once, which are both held; and after they have arrived, another one.
    await Promise.all([client.get(1), client.get(2)]);
    await client.get(3);
    expect(lengths).toHaveLength(2);
    expect(lengths[1]).toBe(10_000);
    await client.close();
  });

  test('holds all requests back and is announced once', async () => {
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

  test('of more than a minute fails at once with its length, and no later request is made', async () => {
    const { asked } = answer({ render: [problem(429, {}, { 'retry-after': '1000000000' })] });
    const clock = instantClock();
    const client = new SnippetClient({ apiKey, renderBaseUrl }, clock);
    const first = await failureOf(client.get(1));
    expect(first).toMatchObject({ code: 'rate-limited', attempts: 1 });
    expect(first.message).toContain('the service asks to wait 11,575d');
    expect(await failureOf(client.get(2))).toMatchObject({ code: 'rate-limited', attempts: 0 });
    expect(asked).toHaveLength(1);
    await client.close();
  });

  test('of variant B does not delay variant A on another host', async () => {
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
