import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SnippetClient, SnippetError } from '../../src/client/index.ts';
import { parseRetryAfter } from '../../src/client/retry-after.ts';
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

const headers = fc.oneof(
  fc.nat({ max: 70 }).map(String),
  fc.constantFrom('', '0', '-1', '-5', '1e9', '1000000000', 'soon', '1.5', '0x10', 'NaN'),
  fc.nat({ max: 100 }).map((seconds) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toUTCString()),
  fc.string(),
);

test('whatever it answers, each snippet comes or is reported, and no request is made sooner than asked', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        share: fc.double({ min: 0, max: 1, noNaN: true }),
        seed: fc.nat(),
        retryAfter: fc.array(headers, { minLength: 1, maxLength: 4 }),
        status: fc.constantFrom(503, 429),
        concurrency: fc.constantFrom(1, 3, 20),
      }),
      async ({ share, seed, retryAfter, status, concurrency }) => {
        network.resetHandlers();
        const clock = virtualClock({ quietFor: 1 });
        const random = chances(seed);
        const tooSoon: string[] = [];
        let asks: { at: number; until: number }[] = [];
        let failures = 0;
        answer({
          render: [
            () => {
              const now = clock.now();
              // One that was made before the service asked for anything is no fault.
              asks = asks.filter(({ until }) => until > now);
              for (const { at, until } of asks) if (now > at) tooSoon.push(`${now} is before ${until}`);
              if (random() >= share) return fine();
              const header = retryAfter[failures++ % retryAfter.length] ?? '';
              const milliseconds = parseRetryAfter(header.trim(), now);
              if (milliseconds !== undefined) asks.push({ at: now, until: now + milliseconds });
              return problem(status, {}, isHeader(header) ? { 'retry-after': header } : {})();
            },
          ],
        });
        const client = new SnippetClient({ apiKey, renderBaseUrl, concurrency }, clock);
        const { contents, failed, notAsked } = await fetchSnippets(
          client,
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
    { numRuns: 60 },
  );
});

/** What can be sent as a header at all. */
function isHeader(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}
