import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SnippetClient, type SnippetClientOptions } from '../../src/client/snippet-client.ts';
import { createRequest } from '../../src/client/snippet-request.ts';
import { type HttpResponse, type Transport, TransportError } from '../../src/client/transport/transport.ts';
import { failingServices, losesNothing } from '../client/failing-services.ts';
import { type Behaviour, chooseIds, simulate } from '../client/simulation.ts';
import { virtualClock } from '../support/service/clock.ts';
import { runs } from '../support/tools/property.ts';

/** When an outage begins, as a share of the requests that would be made without it. */
const outages = [
  ['at the start', 0],
  ['in the middle', 0.4],
  ['near the end', 0.8],
  ['at the very end', 0.99],
] as const;

const endpoints = ['render', 'retrieve', 'both', 'both-on-one-origin'] as const;

describe.for(endpoints)('with base URLs for %s', (endpoints) => {
  test.for([
    ['network', 500],
    ['hang', 200],
    [503, 1],
    [503, 4],
    [503, 1_000],
    [429, 200],
    [425, 200],
    [522, 200],
  ] as const)(
    'a service that is dead (%s) is tried for a minute for %i snippets, with under 100 requests',
    async ([what, count]) => {
      const { ids } = chooseIds(count, 0, 1);
      const { fetched, failed, milliseconds, requests, notices } = await simulate({
        ids,
        endpoints,
        behaviour: () => what,
      });
      expect([fetched.size, failed.size]).toEqual([0, count]);
      expect(new Set([...failed.values()].map(({ code }) => code))).toEqual(new Set(['unavailable']));
      expect(requests.render + requests.retrieve).toBeLessThan(100);
      expect(milliseconds).toBeGreaterThanOrEqual(60_000);
      expect(milliseconds).toBeLessThan(what === 'hang' ? 95_000 : 63_000);
      // A hanging service is only noticed after ten seconds.
      expect(notices[0]).toMatchObject({ kind: 'failing', at: what === 'hang' ? 10_000 : 2_000 });
    },
  );

  test.for([
    ['', 1, 0, 30_000],
    ['', 1_000, 0, 30_000],
    [', and for a minute if it has answered before', 1_000, 30, 60_000],
  ] as const)('a port that refuses is tried for 30 s%s (%i snippets)', async ([, count, since, patience]) => {
    const { ids } = chooseIds(count, 0, 1);
    const behaviour = ({ at }: { at: number }) => (at < since ? 'good' : 'refused');
    const { fetched, failed, milliseconds } = await simulate({ ids, endpoints, behaviour });
    expect(fetched.size > 0).toBe(since > 0);
    expect(failed.size).toBe(count - fetched.size);
    expect(milliseconds).toBeGreaterThanOrEqual(patience);
    expect(milliseconds).toBeLessThan(patience + 3_000);
  });

  test.for(outages)('no snippet is lost if the service is down for 20 s %s', async ([, from]) => {
    for (const count of [1, 4, 100, 1_000]) {
      const { ids } = chooseIds(count, 0, 1);
      const asked: number[] = [];
      const askedAt = ({ at }: { at: number }) => {
        asked.push(at);
        return 'good' as const;
      };
      await simulate({ ids, endpoints, behaviour: askedAt });
      const start = asked[Math.floor(from * count)] ?? Number.NaN;
      const { failed, milliseconds, notices } = await simulate({
        ids,
        endpoints,
        behaviour: ({ at }) => (start <= at && at < start + 20_000 ? 503 : 'good'),
      });
      expect(failed.size).toBe(0);
      expect(milliseconds).toBeLessThan(30_000);
      // The outage began before the last request.
      expect(milliseconds).toBeGreaterThan(Math.max(...asked) + 20);
      if (milliseconds > 20_000) {
        expect(notices.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['failing', 'recovered']));
      }
    }
  });

  test('no snippet is lost if the service is down for 20 s twice', async () => {
    const { failed } = await simulate({
      ids: chooseIds(1_000, 0, 1).ids,
      endpoints,
      behaviour: ({ at }) => (at < 20_000 || (28_000 < at && at < 48_000) ? 'network' : 'good'),
      latency: 300,
    });
    expect(failed.size).toBe(0);
  });
});

describe.for(['both', 'both-on-one-origin'] as const)(
  'with variant B dead and variant A alive (%s)',
  (endpoints) => {
    test.for(['network', 503, 'dies after a tenth of a second'] as const)(
      '(%s) everything is retrieved at full speed',
      async (how) => {
        const isDead = (at: number) => typeof how === 'number' || how === 'network' || at > 100;
        const { failed, milliseconds, requests } = await simulate({
          ids: chooseIds(1_000, 0, 1).ids,
          endpoints,
          behaviour: ({ variant, at }) => {
            if (variant === 'retrieve' || !isDead(at)) return 'good';
            return how === 503 ? 503 : 'network';
          },
        });
        expect(failed.size).toBe(0);
        // 1,000 snippets at 20 ms, 20 at a time, would take a second.
        expect(milliseconds).toBeLessThan(500);
        expect(requests.retrieve).toBeLessThanOrEqual(1_000);
      },
    );
  },
);

test('a service that is dead is given up for every snippet, whenever the client reads the clock', async () => {
  for (let seed = 1; seed <= 40; seed += 1) {
    const { ids } = chooseIds(20, 0, 1);
    const { failed, milliseconds } = await simulate({ ids, seed, step: 0.02, behaviour: () => 503 });
    expect(failed.size).toBe(ids.length);
    expect(milliseconds).toBeLessThan(70_000);
  }
}, 30_000);

test('exactly the dead snippets fail, whatever else the service does', async () => {
  await fc.assert(fc.asyncProperty(failingServices({ ids: 300, latency: 100 }), losesNothing), {
    numRuns: runs(15),
    seed: 20_260_101,
  });
});

test('requests for dead snippets do not delay the others', async () => {
  const { ids, chosen } = chooseIds(1_000, 0.6, 1);
  const arrived: number[] = [];
  const { failed } = await simulate({
    // The dead ones come first.
    ids: [...chosen, ...ids.filter((id) => !chosen.has(id))],
    behaviour: ({ id, at }) => {
      if (chosen.has(id)) return 500;
      arrived.push(at);
      return 'good';
    },
  });
  expect(failed.size).toBe(600);
  expect(Math.max(...arrived.slice(0, 400))).toBeLessThan(2_000);
});

test('a single snippet that keeps failing is given up after five attempts', async () => {
  const { failed, requests, milliseconds } = await simulate({
    ids: chooseIds(1_000, 0, 1).ids,
    behaviour: ({ id }) => (id === 500 ? 503 : 'good'),
  });
  expect([...failed.keys()]).toEqual([500]);
  expect(failed.get(500)).toMatchObject({ code: 'server-error', attempts: 5 });
  // A few extra requests check that the service is healthy.
  expect(requests.render).toBeLessThanOrEqual(999 + 5 + 4);
  expect(milliseconds).toBeLessThan(10_000);
});

test('a service that limits the rate with Retry-After loses no snippet, however often it does', async () => {
  let minute = -1;
  let answered = 0;
  const { failed, milliseconds } = await simulate({
    ids: chooseIds(1_000, 0, 1).ids,
    behaviour: ({ at }) => {
      if (Math.floor(at / 60_000) !== minute) {
        minute = Math.floor(at / 60_000);
        answered = 0;
      }
      answered += 1;
      return answered <= 100 ? 'good' : { status: 429, retryAfter: `${Math.ceil(60 - ((at / 1_000) % 60))}` };
    },
  });
  expect(failed.size).toBe(0);
  expect(milliseconds).toBeLessThan(11 * 60_000);
});

const fine: HttpResponse = {
  ...{ status: 200, contentType: '', retryAfter: undefined },
  body: Buffer.from('{"content":"rendered"}'),
};

/** A client on a virtual clock whose requests a function answers. */
function clientOf(
  answer: (url: string) => HttpResponse,
  options: Partial<SnippetClientOptions> = {},
  random = Math.random,
) {
  const clock = virtualClock({ random });
  const transport: Transport = {
    capacity: Number.POSITIVE_INFINITY,
    send: async ({ url }) => answer(url),
    async close() {},
  };
  const urls = { renderBaseUrl: 'https://one.test/b' };
  const client = new SnippetClient({ apiKey: 'sk_simulated', ...urls, ...options }, { clock, transport });
  onTestFinished(() => client.close());
  /** Requests these snippets. Returns how many arrive. */
  const arrived = async (ids: readonly number[]) => {
    const all = await Promise.allSettled(ids.map((id) => client.fetch(createRequest(id))));
    return all.filter(({ status }) => status === 'fulfilled').length;
  };
  return { clock, arrived };
}

const { ids: thirty } = chooseIds(30, 0, 1);

test('a service that was given up is asked again for later snippets', async () => {
  let isDown = true;
  const { clock, arrived } = clientOf(
    () => {
      if (isDown) throw new TransportError('network', 'connect ECONNREFUSED');
      return fine;
    },
    { patience: 10_000 },
  );
  expect(await arrived(thirty)).toBe(0);
  isDown = false;
  await clock.wait(10_000);
  expect(await arrived(thirty)).toBeGreaterThan(0);
  expect(await arrived(thirty)).toBe(30);
});

test('an outage long after a snippet has failed is still waited out', async () => {
  let isDown = false;
  const { clock, arrived } = clientOf((url) => {
    if (isDown || url.includes('/2/')) throw new TransportError('network', 'read ECONNRESET');
    return fine;
  });
  expect(await arrived([1, 2])).toBe(1);
  await clock.wait(3_600_000);
  isDown = true;
  void clock.wait(20_000).then(() => {
    isDown = false;
  });
  expect(await arrived([3])).toBe(1);
});

test('an error in onNotice or in the clock does not end the process', async () => {
  const broken = () => {
    throw new TypeError('broken');
  };
  const held = { ...fine, status: 429, retryAfter: '1' };
  const answers = [held];
  expect(await clientOf(() => answers.pop() ?? fine, { onNotice: broken }).arrived([1, 2])).toBe(2);
  const { arrived } = clientOf(() => fine, {}, broken);
  expect(await arrived([1, 2])).toBe(0);
});

test('the wait for a service that is down ends at the deadline of a snippet', async () => {
  const { failed, milliseconds } = await simulate({
    ids: chooseIds(60, 0, 1).ids,
    behaviour: () => 503,
    options: { limits: { deadline: 5_000 } },
  });
  expect(failed.size).toBe(60);
  // The last attempt is made when that time is over.
  expect(milliseconds).toBeLessThanOrEqual(5_000 + 20);
});

test('no more requests are in flight than `concurrency`, whatever fails', async () => {
  const { ids, chosen } = chooseIds(300, 0.3, 1);
  const { most } = await simulate({
    ids,
    endpoints: 'both',
    options: { concurrency: 7 },
    behaviour: ({ id, random, at }) =>
      chosen.has(id) || random() < 0.3 || (at > 500 && at < 5_000) ? 500 : 'good',
  });
  expect(most).toBe(7);
});

/** A failed answer: its delay, and its `Retry-After`. */
interface Failure {
  latency: number;
  header: string | undefined;
  /** How long the header asks the client to wait after the answer. */
  hold: number;
}

const seconds = fc.oneof(fc.nat({ max: 60 }), fc.constantFrom(0, 1, 59, 60, 61, 3600));
const failures: fc.Arbitrary<Failure> = fc
  .record({
    latency: fc.integer({ min: 1, max: 5_000 }),
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
        endpoints: fc.constantFrom('render' as const, 'both-on-one-origin' as const),
      }),
      async ({ answers, status, concurrency, endpoints }) => {
        const tooSoon: string[] = [];
        const holds: { since: number; until: number }[] = [];
        const left = [...answers];
        // Requests that wait for a later answer wait as long as that answer takes.
        let latency = 1;
        const { fetched, failed } = await simulate({
          ids: thirty,
          endpoints,
          options: { concurrency },
          latency: () => latency,
          behaviour({ at }) {
            for (const { since, until } of holds) {
              // Of several requests, one may be in flight when another is answered.
              if (at < until && (at > since || concurrency === 1)) tooSoon.push(`${at} is before ${until}`);
            }
            const failure = left.shift();
            latency = failure?.latency ?? 1;
            if (!failure) return 'good';
            holds.push({ since: at + latency, until: at + latency + failure.hold });
            return failure.header === undefined ? status : { status, retryAfter: failure.header };
          },
        });
        expect(fetched.size + failed.size).toBe(30);
        for (const { code } of failed.values()) {
          expect(['server-error', 'rate-limited', 'unavailable']).toContain(code);
        }
        expect(tooSoon).toEqual([]);
      },
    ),
    { numRuns: runs(40) },
  );
});

describe('a run waits for at most two minutes without a snippet', () => {
  const limit = 120_000;

  /** How much of a time no request is under way that is answered. The requests are in the order of their start. */
  const waitBetween = (from: number, to: number, answered: readonly { from: number; to: number }[]) => {
    let wait = 0;
    let counted = from;
    for (const request of answered) {
      wait += Math.max(0, Math.min(request.from, to) - counted);
      counted = Math.max(counted, Math.min(request.to, to));
    }
    return wait + Math.max(0, to - counted);
  };

  test.each([
    ['one bad snippet of two', 2, ({ id }: { id: number }) => id === 2, '60'],
    ['a dead service', 3, () => true, '59'],
    ['a dead service that asks for short pauses', 3, () => true, '7'],
    ['ten bad snippets of a hundred', 100, ({ id }: { id: number }) => id % 10 === 0, '60'],
  ] as const)('where %s asks to wait', async (_what, count, isBad, retryAfter) => {
    let lastArrival = 0;
    const { ids } = chooseIds(count, 0, 1);
    const arrived = new Set<number>();
    const { fetched, failed, milliseconds } = await simulate({
      ids,
      behaviour: (request) => {
        if (isBad(request)) return { status: 503, retryAfter };
        if (!arrived.has(request.id)) lastArrival = request.at + 20;
        arrived.add(request.id);
        return 'good';
      },
    });
    expect([...failed.keys()].filter((id) => !isBad({ id }))).toEqual([]);
    expect(fetched.size + failed.size).toBe(count);
    expect(milliseconds - lastArrival).toBeLessThanOrEqual(limit);
  });

  test('whatever else the service does', async () => {
    const trouble = fc.oneof(
      fc.constantFrom<Behaviour>('network', 'refused', 'hang', 500, 503, 429, 408, 'good'),
      fc.integer({ min: 0, max: 70 }).map((seconds) => ({ status: 503, retryAfter: `${seconds}` })),
    );
    const service = fc.record({
      count: fc.integer({ min: 1, max: 60 }),
      troubles: fc.array(trouble, { minLength: 1, maxLength: 8 }),
      // Of how many requests one is answered.
      rarity: fc.constantFrom(1, 2, 10, 100, Infinity),
      latency: fc.constantFrom(1, 100, 5_000, 14_900, 20_000),
      concurrency: fc.constantFrom(1, 3, 100),
      endpoints: fc.constantFrom(...endpoints),
      seed: fc.nat(),
    });
    const property = fc.asyncProperty(service, async (chosen) => {
      const { count, troubles, rarity, latency, concurrency, endpoints, seed } = chosen;
      const { ids } = chooseIds(count, 0, seed);
      // When snippets arrived, and the requests that were answered without a pause: these are no wait.
      const arrivals = new Map<number, number>();
      const answered: { from: number; to: number }[] = [];
      const { milliseconds } = await simulate({
        ids,
        endpoints,
        seed,
        latency,
        options: { concurrency },
        behaviour: ({ id, at, random }) => {
          const isGood = random() < 1 / rarity;
          const what = isGood ? 'good' : (troubles[Math.floor(random() * troubles.length)] as Behaviour);
          const isAnswered = typeof what !== 'object' && what !== 'hang' && latency < 15_000;
          if (isAnswered) answered.push({ from: at, to: at + latency });
          if (isAnswered && what === 'good' && !arrivals.has(id)) arrivals.set(id, at + latency);
          return what;
        },
      });
      const times = [0, ...arrivals.values(), milliseconds].sort((a, b) => a - b);
      const waits = times.slice(1).map((to, index) => waitBetween(times[index] as number, to, answered));
      expect(Math.max(...waits)).toBeLessThanOrEqual(limit);
    });
    await fc.assert(property, { numRuns: runs(200) });
  });

  test.each([
    ['503 and a Retry-After of 40 s', { status: 503, retryAfter: '40' }, 45_000],
    ['429 and a Retry-After of 60 s', { status: 429, retryAfter: '60' }, 59_000],
    ['503', 503, 55_000],
    ['hanging', 'hang', 50_000],
  ] as const)('and loses nothing if the service recovers from %s', async (_what, trouble, until) => {
    for (const count of [1, 2, 200]) {
      const { ids } = chooseIds(count, 0, 1);
      const { failed } = await simulate({
        ids,
        endpoints: 'both',
        behaviour: ({ at }) => (at < until ? trouble : 'good'),
      });
      expect([...failed.keys()]).toEqual([]);
    }
  });

  test.for(['network', 500] as const)(
    'and loses nothing while one slot is at work on snippets that fail with %s',
    async (how) => {
      const service = {
        dead: 0.34,
        chance: 0.32,
        latency: 400,
        concurrency: 1,
        endpoints: 'render',
      } as const;
      await losesNothing({ ...service, count: 540, order: 'first', how, seed: 1_923_332_757 });
    },
  );

  test('but a large site may take as long as it needs', async () => {
    const { ids } = chooseIds(10_000, 0, 1);
    const { failed, milliseconds } = await simulate({
      ids,
      latency: 2_000,
      options: { concurrency: 20 },
      behaviour: () => 'good',
    });
    expect(failed.size).toBe(0);
    expect(milliseconds).toBeGreaterThan(5 * limit);
  });
});
