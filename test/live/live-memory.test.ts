import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LiveMemory } from '../../src/live/live-memory.ts';

/** What the service answers at a time: a content, trouble, or a refusal. */
type Answer = string | 'trouble' | 'refusal';

/** One reader: the second at which they come, what the service answers then, and what they get. */
type Step = [second: number, answer: Answer, gets: Answer];

interface MemoryCase {
  what: string;
  maxAge: number;
  sharesRequests?: boolean;
  steps: Step[];
  asked: number;
  outages?: number;
}

class Refusal extends Error {}

test.for<MemoryCase>([
  {
    what: 'without a memory, each reader gets what the service sends',
    maxAge: 0,
    steps: [
      [0, 'first', 'first'],
      [1, 'second', 'second'],
      [2, 'trouble', 'trouble'],
    ],
    asked: 3,
  },
  {
    what: 'the last content is shown while it is asked for again',
    maxAge: 60,
    steps: [
      [0, 'first', 'first'],
      [2, 'second', 'first'],
      [4, 'third', 'second'],
    ],
    asked: 3,
  },
  {
    what: 'many readers within a second make one request',
    maxAge: 60,
    steps: [
      [0, 'first', 'first'],
      [0.2, 'second', 'first'],
      [0.9, 'second', 'first'],
    ],
    asked: 1,
  },
  {
    what: 'in an outage, the last content is shown until it is too old, with one warning',
    maxAge: 60,
    steps: [
      [0, 'first', 'first'],
      [10, 'trouble', 'first'],
      [20, 'trouble', 'first'],
      [60, 'trouble', 'first'],
      [61, 'trouble', 'trouble'],
    ],
    asked: 5,
    outages: 1,
  },
  {
    what: 'after an outage, another one is warned of again',
    maxAge: 600,
    steps: [
      [0, 'first', 'first'],
      [10, 'trouble', 'first'],
      [20, 'second', 'first'],
      [30, 'trouble', 'second'],
    ],
    asked: 4,
    outages: 2,
  },
  {
    what: 'a service in trouble is asked every five seconds',
    maxAge: 600,
    steps: [
      [0, 'first', 'first'],
      [10, 'trouble', 'first'],
      [12, 'second', 'first'],
      [14, 'second', 'first'],
      [16, 'second', 'first'],
      [18, 'second', 'second'],
    ],
    asked: 4,
    outages: 1,
  },
  {
    what: 'a refusal ends what is shown',
    maxAge: 600,
    steps: [
      [0, 'first', 'first'],
      [10, 'refusal', 'first'],
      [11, 'trouble', 'trouble'],
    ],
    asked: 3,
  },
  {
    what: 'where requests are not shared, a reader waits for the answer',
    maxAge: 60,
    sharesRequests: false,
    steps: [
      [0, 'first', 'first'],
      [2, 'second', 'second'],
      [4, 'trouble', 'second'],
      [20, 'refusal', 'refusal'],
      [21, 'trouble', 'trouble'],
    ],
    asked: 5,
    outages: 1,
  },
])('$what', async ({ maxAge, sharesRequests = true, steps, asked, outages = 0 }) => {
  let now = 1_000_000;
  let requests = 0;
  let warnings = 0;
  const memory = new LiveMemory<string>({
    maxAge: maxAge * 1000,
    sharesRequests,
    clock: { now: () => now, random: () => 0, wait: async () => {} },
    isRefusal: (error) => error instanceof Refusal,
    onOutage: () => {
      warnings += 1;
    },
    sizeOf: ({ length }) => length,
  });
  const start = now;
  const seen: Answer[] = [];
  for (const [second, answer] of steps) {
    now = start + second * 1000;
    const ask = async () => {
      requests += 1;
      if (answer === 'trouble') throw new Error(answer);
      if (answer === 'refusal') throw new Refusal(answer);
      return answer;
    };
    seen.push(await memory.get('42', ask).catch((error: Error) => error.message));
    // A request in the background ends before the next reader comes.
    await setImmediate();
  }
  expect(seen).toEqual(steps.map(([, , gets]) => gets));
  expect({ requests, warnings }).toEqual({ requests: asked, warnings: outages });
});

test('readers who come at the same time share one request, and an error is not kept', async () => {
  let requests = 0;
  const memory = new LiveMemory<string>({
    maxAge: 0,
    sharesRequests: true,
    clock: { now: () => 0, random: () => 0, wait: async () => {} },
    isRefusal: () => false,
    onOutage: () => {},
    sizeOf: ({ length }) => length,
  });
  const ask = async () => {
    requests += 1;
    await setImmediate();
    if (requests === 1) throw new Error('trouble');
    return 'content';
  };
  const readers = await Promise.allSettled([
    memory.get('1', ask),
    memory.get('1', ask),
    memory.get('1', ask),
  ]);
  expect(readers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(requests).toBe(1);
  expect(await memory.get('1', ask)).toBe('content');
});

test('a thousand contents are kept, and those that were used last stay', async () => {
  const asked: string[] = [];
  const memory = new LiveMemory<string>({
    maxAge: 60_000,
    sharesRequests: true,
    clock: { now: () => 0, random: () => 0, wait: async () => {} },
    isRefusal: () => false,
    onOutage: () => {},
    sizeOf: ({ length }) => length,
  });
  const get = (key: string) =>
    memory.get(key, async () => {
      asked.push(key);
      return key;
    });
  for (let key = 0; key < 1_000; key += 1) await get(`${key}`);
  await get('0');
  await get('1000');
  asked.length = 0;
  await get('0');
  await get('1');
  expect(asked).toEqual(['1']);
});

test('what is forgotten is asked for again, and a request that was under way leaves nothing behind', async () => {
  const memory = new LiveMemory<string>({
    maxAge: 60_000,
    sharesRequests: true,
    clock: { now: () => 0, random: () => 0, wait: async () => {} },
    isRefusal: () => false,
    onOutage: () => {},
    sizeOf: ({ length }) => length,
  });
  const slow = Promise.withResolvers<string>();
  await memory.get('42', async () => 'old');
  await memory.get('7', async () => 'other');
  const underWay = memory.get('42 {}', () => slow.promise);

  memory.forget((key) => key.startsWith('42'));
  slow.resolve('old');
  expect(await underWay).toBe('old');
  expect(await memory.get('42', async () => 'new')).toBe('new');
  expect(await memory.get('42 {}', async () => 'new')).toBe('new');
  expect(await memory.get('7', async () => 'new')).toBe('other');
});

test('of contents that are large, fewer are kept, and of one that is too large, none', async () => {
  const memory = new LiveMemory<string>({
    maxAge: 60_000,
    sharesRequests: true,
    clock: { now: () => 0, random: () => 0, wait: async () => {} },
    isRefusal: () => false,
    onOutage: () => {},
    sizeOf: ({ length }) => length,
  });
  const asked: string[] = [];
  const get = (key: string, size: number) =>
    memory.get(key, async () => {
      asked.push(key);
      return 'x'.repeat(size);
    });
  for (const key of ['1', '2', '3', '4', '5', '6']) await get(key, 2_000_000);
  await get('whole', 11_000_000);
  asked.length = 0;
  for (const key of ['6', '5', '4', '3', 'whole', '2']) await get(key, 2_000_000);
  expect(asked).toEqual(['whole', '2']);
});

test('where requests are not shared, an earlier answer that comes later replaces no newer content', async () => {
  let now = 1_000_000;
  const memory = new LiveMemory<string>({
    maxAge: 60_000,
    sharesRequests: false,
    clock: { now: () => now, random: () => 0, wait: async () => {} },
    isRefusal: () => false,
    onOutage: () => {},
    sizeOf: ({ length }) => length,
  });
  const slow = Promise.withResolvers<string>();
  const first = memory.get('42', () => slow.promise);
  now += 10;
  expect(await memory.get('42', async () => 'new')).toBe('new');
  slow.resolve('old');
  expect(await first).toBe('old');
  expect(await memory.get('42', async () => 'newest')).toBe('new');
});
