import fc from 'fast-check';
import { expect } from 'vitest';
import { chooseIds, type Simulation, simulate } from './simulation.ts';

/** A service where some ids always fail, and the others by chance. */
export interface FailingService {
  count: number;
  /** The share of ids that always fail. */
  dead: number;
  /** The share of all other attempts that fail. */
  chance: number;
  latency: number;
  /** Where the dead ids are in the order of requests. */
  order: 'first' | 'last' | 'mixed';
  how: 500 | 503 | 429 | 'network';
  concurrency: number;
  endpoints: Exclude<Simulation['endpoints'], undefined>;
  seed: number;
}

export function failingServices(most: { ids: number; latency: number }): fc.Arbitrary<FailingService> {
  return fc.record({
    count: fc.integer({ min: 100, max: most.ids }),
    dead: fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 0.6, noNaN: true })),
    chance: fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 0.5, noNaN: true })),
    latency: fc.integer({ min: 1, max: most.latency }),
    order: fc.constantFrom('first', 'last', 'mixed'),
    how: fc.constantFrom<FailingService['how'][]>(500, 503, 429, 'network'),
    concurrency: fc.constantFrom(1, 5, 20, 100),
    endpoints: fc.constantFrom('render', 'retrieve', 'both', 'both-on-one-origin'),
    seed: fc.nat(),
  });
}

/** Expects that exactly the dead ids fail. */
export async function losesNothing(service: FailingService): Promise<void> {
  const { count, dead, chance, latency, how, concurrency, endpoints, seed } = service;
  const { ids, chosen } = chooseIds(count, dead, seed);
  const { fetched, failed } = await simulate({
    ids: inOrder(ids, chosen, service.order),
    endpoints,
    seed,
    latency: ({ random }) => latency * (0.5 + random()),
    behaviour: ({ id, random }) => (chosen.has(id) || random() < chance ? how : 'good'),
    options: { concurrency },
    step: 0.01,
  });
  expect([...failed.keys()].filter((id) => !chosen.has(id))).toEqual([]);
  expect(fetched.size).toBe(count - chosen.size);
}

function inOrder(
  ids: readonly number[],
  chosen: ReadonlySet<number>,
  order: FailingService['order'],
): readonly number[] {
  if (order === 'mixed') return ids;
  const others = ids.filter((id) => !chosen.has(id));
  return order === 'first' ? [...chosen, ...others] : [...others, ...chosen];
}
