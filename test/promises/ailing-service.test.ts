import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SnippetClient, SnippetError } from '../../src/client/index.ts';
import { fetchSnippets } from '../../src/wanted/fetch-snippets.ts';
import type { WantedSnippet } from '../../src/wanted/page-embeds.ts';
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
const rules = { sanitize: undefined, scripts: 'allow', strict: false, policy: 'none' } as const;

function wanted(count: number): WantedSnippet[] {
  return Array.from({ length: count }, (_, index) => ({
    key: `${index + 1}`,
    id: index + 1,
    params: undefined,
    pages: new Set(['index.html']),
    asHtml: true,
    pagesWithoutFallback: new Set(['index.html']),
  }));
}

/** Chances that are the same in every run. */
function chances(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const never = new AbortController().signal;

test.for([
  ['always answers 503', problem(503)],
  ['refuses connections', connectionFails],
] as const)(
  '10,000 snippets of a service that %s: under 100 requests, within two minutes',
  async ([, dead]) => {
    const { asked } = answer({ render: [dead], retrieve: [dead] });
    const clock = virtualClock();
    const client = new SnippetClient({ apiKey, renderBaseUrl, retrieveBaseUrl }, clock);
    const { contents, failed } = await fetchSnippets(client, wanted(10_000), rules, never, () => {});
    expect(contents.size).toBe(0);
    expect(failed).toHaveLength(10_000);
    expect(failed.filter(({ error }) => error.code === 'unavailable').length).toBeGreaterThan(9_900);
    expect(asked.length).toBeLessThan(100);
    expect(clock.advanced()).toBeLessThan(120_000);
    await client.close();
  },
);

describe('a service that is ailing loses no snippet', () => {
  test.for([0.1, 0.3])('%d of its answers are 503', async (share) => {
    const random = chances(1);
    answer({ render: [() => (random() < share ? problem(503)() : fine())] });
    const client = new SnippetClient({ apiKey, renderBaseUrl }, virtualClock());
    const { contents } = await fetchSnippets(client, wanted(500), rules, never, () => {});
    expect(contents.size).toBe(500);
    await client.close();
  });

  test('it is down for 20 s', async () => {
    const clock = virtualClock();
    answer({ render: [() => (clock.advanced() < 20_000 ? problem(503)() : fine())] });
    const notices: string[] = [];
    const onNotice = ({ kind }: { kind: string }) => notices.push(kind);
    const client = new SnippetClient({ apiKey, renderBaseUrl, onNotice }, clock);
    const { contents } = await fetchSnippets(client, wanted(200), rules, never, () => {});
    expect(contents.size).toBe(200);
    expect(notices).toEqual(['failing', 'recovered']);
    await client.close();
  });

  test('it is down for 20 s, well for a moment, and down for 20 s again', async () => {
    const outages: [from: number, until: number][] = [[0, 20_000]];
    const clock = virtualClock();
    const isDown = () =>
      outages.some(([from, until]) => from <= clock.advanced() && clock.advanced() < until);
    answer({ render: [() => (isDown() ? problem(503)() : fine())] });
    // Shorter than from the beginning of the first outage to the end of the second.
    const limits = { breakerPatience: 38_000 };
    const client = new SnippetClient({ apiKey, renderBaseUrl, limits }, clock);
    const first = await fetchSnippets(client, wanted(100), rules, never, () => {});
    outages.push([clock.advanced(), clock.advanced() + 20_000]);
    const second = await fetchSnippets(client, wanted(100), rules, never, () => {});
    expect([first.contents.size, second.contents.size]).toEqual([100, 100]);
    await client.close();
  });
});

test('a service that is dead is given up within two minutes, however long a snippet may take', async () => {
  answer({ render: [problem(503)] });
  const clock = virtualClock();
  const client = new SnippetClient({ apiKey, renderBaseUrl, limits: { deadline: 3_600_000 } }, clock);
  const { failed } = await fetchSnippets(client, wanted(40), rules, never, () => {});
  expect(failed.filter(({ error }) => error.code === 'unavailable').length).toBeGreaterThan(15);
  expect(clock.advanced()).toBeLessThan(120_000);
  await client.close();
});

test('no snippet waits for a service that fails for everyone beyond its own deadline', async () => {
  answer({ render: [problem(503)] });
  const clock = virtualClock();
  const client = new SnippetClient({ apiKey, renderBaseUrl, limits: { deadline: 5_000 } }, clock);
  const { failed } = await fetchSnippets(client, wanted(60), rules, never, () => {});
  expect(failed).toHaveLength(60);
  expect(clock.advanced()).toBeLessThanOrEqual(5_000);
  await client.close();
});

test('one snippet that always fails is asked for once more, and no oftener', async () => {
  const asked: string[] = [];
  answer({ render: [fine] });
  const client = new SnippetClient({ apiKey, renderBaseUrl }, virtualClock());
  const source = {
    get: async (id: number) => {
      asked.push(String(id));
      if (id === 2) throw new SnippetError('server-error', 'Snippet 2 could not be rendered: 500');
      return client.get(id);
    },
  };
  const { contents, failed } = await fetchSnippets(source, wanted(3), rules, never, () => {});
  expect([contents.size, failed.length]).toEqual([2, 1]);
  expect(asked).toEqual(['1', '2', '3', '2']);
  await client.close();
});

test.for([
  ['server-error', 2, 'asked for once more after all the others'],
  ['server-error', 3, 'not asked for again: it is down'],
  ['unavailable', 1, 'not asked for again: the client knows that it is down'],
  ['not-cached', 1, 'not asked for again: there is no service to ask'],
  ['not-found', 1, 'not asked for again: the answer would be the same'],
] as const)('%s of %i of four snippets: what failed is %s', async ([code, count, consequence]) => {
  const asked: number[] = [];
  const source = {
    async get(id: number) {
      asked.push(id);
      if (id <= count) throw new SnippetError(code, `Snippet ${id}: no`);
      return { content: '', variant: 'render' as const, milliseconds: 1 };
    },
  };
  const { contents, failed } = await fetchSnippets(source, wanted(4), rules, never, () => {});
  expect([contents.size, failed.length]).toEqual([4 - count, count]);
  expect(asked).toHaveLength(consequence.startsWith('asked') ? 4 + count : 4);
});

/** An answer that fails: when it comes after its request, and the `Retry-After` it carries. */
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

test('whatever it answers, each snippet comes or is reported, and no request is made sooner than asked', async () => {
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
                // Of several at once, one may be on its way when another one's answer comes; never of one at a time.
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
        const client = new SnippetClient({ apiKey, renderBaseUrl, concurrency }, clock);
        const source = {
          get: (...asked: Parameters<SnippetClient['get']>) => {
            started += 1;
            return client.get(...asked).finally(() => {
              settled += 1;
            });
          },
        };
        const { contents, failed, notAsked } = await fetchSnippets(
          source,
          wanted(30),
          rules,
          never,
          () => {},
        );
        await client.close();
        expect(contents.size + failed.length).toBe(30);
        expect(notAsked).toEqual([]);
        for (const { error } of failed) {
          expect(['server-error', 'rate-limited', 'unavailable']).toContain(error.code);
        }
        expect(tooSoon).toEqual([]);
      },
    ),
    { numRuns: 40 },
  );
});
