import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SnippetError } from '../../src/client/index.ts';
import { Service } from '../../src/client/service.ts';
import { createRequest, type SnippetRequest } from '../../src/client/snippet-request.ts';
import { SiteError } from '../../src/failures/errors.ts';
import { withoutRules } from '../../src/html/rules.ts';
import { fetchAll } from '../../src/snippets/fetch-snippets.ts';
import type { SnippetUse } from '../../src/snippets/file-embeds.ts';
import type { SnippetSource } from '../../src/snippets/source.ts';
import { virtualClock } from '../support/clock.ts';
import {
  answer,
  answerRequests,
  apiKey,
  connectionFails,
  json,
  network,
  problem,
  renderBaseUrl,
  retrieveBaseUrl,
} from '../support/network.ts';

answerRequests();

const fine = json({ content: 'rendered' });

function uses(count: number): SnippetUse[] {
  return Array.from({ length: count }, (_, index) => ({
    request: createRequest(index + 1),
    places: new Set(['index.html']),
    placesWithoutChildren: new Set(['index.html']),
    asHtml: true,
  }));
}

/** Fetches as a build does, without rules for HTML. */
function fetchFrom(source: Pick<SnippetSource, 'get'>, count: number) {
  return fetchAll(uses(count), async ({ request }, signal) => {
    const snippet = await source.get(request, signal);
    return { ...snippet, ...withoutRules(snippet.content) };
  });
}

/** Random numbers that are the same in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test.for([
  ['answers every request with 503', problem(503)],
  ['refuses connections', connectionFails],
] as const)(
  'a build of 10,000 snippets from a service that %s makes under 100 requests within two minutes',
  async ([, dead]) => {
    const { asked } = answer({ render: [dead], retrieve: [dead] });
    const clock = virtualClock();
    const client = new Service({ apiKey, renderBaseUrl, retrieveBaseUrl }, clock);
    const { fetched, failed } = await fetchFrom(client, 10_000);
    expect(fetched.size).toBe(0);
    expect(failed).toHaveLength(10_000);
    expect(failed.filter(({ error }) => error.code === 'unavailable').length).toBeGreaterThan(9_900);
    expect(asked.length).toBeLessThan(100);
    expect(clock.advanced()).toBeLessThan(120_000);
    await client.close();
  },
);

describe('no snippet is lost if the service', () => {
  test.for([0.1, 0.3])('answers a share of %d of the requests with 503', async (share) => {
    const random = randomNumbers(1);
    answer({ render: [() => (random() < share ? problem(503)() : fine())] });
    const client = new Service({ apiKey, renderBaseUrl }, virtualClock());
    const { fetched } = await fetchFrom(client, 500);
    expect(fetched.size).toBe(500);
    await client.close();
  });

  test('is down for 20 s', async () => {
    const clock = virtualClock();
    answer({ render: [() => (clock.advanced() < 20_000 ? problem(503)() : fine())] });
    const notices: string[] = [];
    const onNotice = ({ kind }: { kind: string }) => notices.push(kind);
    const client = new Service({ apiKey, renderBaseUrl, onNotice }, clock);
    const { fetched } = await fetchFrom(client, 200);
    expect(fetched.size).toBe(200);
    expect(notices).toEqual(['failing', 'recovered']);
    await client.close();
  });

  test('is down for 20 s, recovers for a moment, and is down for 20 s again', async () => {
    const outages: [from: number, until: number][] = [[0, 20_000]];
    const clock = virtualClock();
    const isDown = () =>
      outages.some(([from, until]) => from <= clock.advanced() && clock.advanced() < until);
    answer({ render: [() => (isDown() ? problem(503)() : fine())] });
    // Shorter than the time from the start of the first outage to the end of the second.
    const limits = { breakerPatience: 38_000 };
    const client = new Service({ apiKey, renderBaseUrl, limits }, clock);
    const first = await fetchFrom(client, 100);
    outages.push([clock.advanced(), clock.advanced() + 20_000]);
    const second = await fetchFrom(client, 100);
    expect([first.fetched.size, second.fetched.size]).toEqual([100, 100]);
    await client.close();
  });
});

test('a dead service is given up within two minutes, whatever the deadline of a snippet is', async () => {
  answer({ render: [problem(503)] });
  const clock = virtualClock();
  const client = new Service({ apiKey, renderBaseUrl, limits: { deadline: 3_600_000 } }, clock);
  const { failed } = await fetchFrom(client, 40);
  expect(failed.filter(({ error }) => error.code === 'unavailable').length).toBeGreaterThan(15);
  expect(clock.advanced()).toBeLessThan(120_000);
  await client.close();
});

test('no snippet waits for a dead service beyond its own deadline', async () => {
  answer({ render: [problem(503)] });
  const clock = virtualClock();
  const client = new Service({ apiKey, renderBaseUrl, limits: { deadline: 5_000 } }, clock);
  const { failed } = await fetchFrom(client, 60);
  expect(failed).toHaveLength(60);
  expect(clock.advanced()).toBeLessThanOrEqual(5_000);
  await client.close();
});

test('a snippet that always fails is fetched a second time after the others, and no more', async () => {
  const asked: string[] = [];
  answer({ render: [fine] });
  const client = new Service({ apiKey, renderBaseUrl }, virtualClock());
  const source = {
    get: async (request: SnippetRequest) => {
      asked.push(request.key);
      if (request.id === 2) throw new SnippetError('server-error', '500', { snippetId: 2 });
      return client.get(request);
    },
  };
  const { fetched, failed } = await fetchFrom(source, 3);
  expect([fetched.size, failed.length]).toEqual([2, 1]);
  expect(asked).toEqual(['1', '2', '3', '2']);
  await client.close();
});

test.for([
  ['server-error', 2, 'repeated after the others'],
  ['server-error', 3, 'not repeated, as most snippets fail'],
  ['unavailable', 1, 'not repeated, as the client has given up the service'],
  ['not-cached', 1, 'not repeated, as no request is made'],
  ['not-found', 1, 'not repeated, as the answer would be the same'],
] as const)('the error "%s" of %i of four snippets is %s', async ([code, count, consequence]) => {
  const asked: number[] = [];
  const source = {
    async get({ id }: SnippetRequest) {
      asked.push(id);
      if (id <= count)
        throw code === 'not-cached' ? new SiteError(code, 'no', id) : new SnippetError(code, 'no');
      return { content: '', variant: 'render' as const, milliseconds: 1 };
    },
  };
  const { fetched, failed } = await fetchFrom(source, 4);
  expect([fetched.size, failed.length]).toEqual([4 - count, count]);
  expect(asked).toHaveLength(consequence.startsWith('repeated') ? 4 + count : 4);
});

/** An answer with a failure: how long after its request it is sent, and its `Retry-After`. */
interface Failure {
  latency: number;
  header: string | undefined;
  /** For how long the header asks the client to wait, from when the answer is sent. */
  hold: number;
}

const seconds = fc.oneof(fc.nat({ max: 60 }), fc.constantFrom(0, 1, 59, 60, 61, 3600));
const failures: fc.Arbitrary<Failure> = fc
  .record({
    latency: fc.nat({ max: 5_000 }),
    asked: fc.oneof(
      seconds.map((length) => ({ header: `${length}`, hold: length * 1000 })),
      fc
        .oneof(
          fc.constantFrom('', '-1', '-5', '1e9', 'soon', '1.5', '0x10', 'NaN', undefined),
          fc.stringMatching(/^[ -/:-~]*$/),
        )
        .map((header) => ({ header, hold: 0 })),
    ),
  })
  .map(({ latency, asked }) => ({ latency, ...asked }));

test('each snippet is fetched or reported for any answers, and no request is made before Retry-After has passed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        answers: fc.array(fc.option(failures, { freq: 3 }), { minLength: 3, maxLength: 30 }),
        status: fc.constantFrom(503, 429),
        concurrency: fc.constantFrom(1, 3, 20),
      }),
      async ({ answers, status, concurrency }) => {
        network.resetHandlers();
        let started = 0;
        let settled = 0;
        const clock = virtualClock({ quietFor: 1, sleepers: () => Math.min(concurrency, started - settled) });
        const tooSoon: string[] = [];
        const holds: { since: number; until: number }[] = [];
        const left = [...answers];
        answer({
          render: [
            async () => {
              const now = clock.advanced();
              for (const { since, until } of holds) {
                // With several at once, one may be in flight when the answer to another arrives.
                if (now < until && (now > since || concurrency === 1))
                  tooSoon.push(`${now} is before ${until}`);
              }
              const failure = left.shift();
              if (!failure) return fine();
              await clock.wait(failure.latency);
              const since = clock.advanced();
              holds.push({ since, until: since + failure.hold });
              const { header } = failure;
              return problem(status, {}, header === undefined ? {} : { 'retry-after': header })();
            },
          ],
        });
        const client = new Service({ apiKey, renderBaseUrl, concurrency }, clock);
        const source = {
          get: (...asked: Parameters<Service['get']>) => {
            started += 1;
            return client.get(...asked).finally(() => {
              settled += 1;
            });
          },
        };
        const { fetched, failed, notAsked } = await fetchFrom(source, 30);
        await client.close();
        expect(fetched.size + failed.length).toBe(30);
        expect(notAsked).toBe(0);
        for (const { error } of failed) {
          expect(['server-error', 'rate-limited', 'unavailable']).toContain(error.code);
        }
        expect(tooSoon).toEqual([]);
      },
    ),
    { numRuns: 40 },
  );
});
