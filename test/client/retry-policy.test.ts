import { expect, test } from 'vitest';
import { defaultLimits, withDefaults } from '../../src/client/limits.ts';
import {
  Endpoint,
  type EndpointStatus,
  nextWait,
  route,
  type Way,
  witnessDelay,
} from '../../src/client/retry-policy.ts';
import type { Job } from '../../src/client/scheduler.ts';
import { parseBaseUrl } from '../../src/client/service-url.ts';

function endpointWith(state: Partial<Endpoint>): Endpoint {
  const base = parseBaseUrl('base', 'https://render.test');
  return Object.assign(new Endpoint('render', base, defaultLimits), state);
}

interface View extends Partial<Pick<Way, 'failures' | 'counted'>>, Partial<Pick<Endpoint, 'isLeft'>> {
  status?: EndpointStatus;
  /** Whether snippets have arrived from it, and whether each had failed once. */
  arrived?: 'none' | 'some' | 'each had failed';
}

function view(more: View = {}): Way {
  const { status = 'open', arrived = 'some', isLeft = false, failures = 0, counted = 0 } = more;
  const answered = arrived === 'none' ? 0 : 98;
  const failedBefore = arrived === 'each had failed' ? 98 : 0;
  const endpoint = endpointWith({ answered, failedBefore, isLeft, lastAnswer: 0, status: () => status });
  return { endpoint, failures, counted, lastFailure: 0 };
}

test.for([
  // witnesses that failed, random number, milliseconds
  [0, 0, 250],
  [0, 1, 500],
  [3, 1, 4_000],
  [9, 0, 4_000],
  [9, 1, 8_000],
] as const)(
  'the wait after %i witnesses with a random number of %f is %i ms',
  ([failed, random, milliseconds]) => {
    expect(witnessDelay(failed, random, defaultLimits)).toBe(milliseconds);
  },
);

test.for([
  ['nothing was answered', 0, 0, 5],
  ['all were answered', 500, 0, 5],
  ['one was answered', 1, 0, 7],
  ['half were answered', 500, 500, 10],
  ['a fifth was answered', 200, 800, 31],
] as const)(
  'a variant counts as down if, when %s (%i and %i failures), %i snippets fail in a row',
  ([, firstAnswered, firstFailed, limit]) => {
    const endpoint = endpointWith({ firstAnswered, firstFailed });
    while (!endpoint.isDown) endpoint.row.add(endpoint.row.size);
    expect(endpoint.row.size).toBe(limit);
  },
);

test.for([
  ['nothing was answered', 0, 0, 1],
  ['all arrived at once', 400, 0, 2],
  ['each had failed once', 400, 400, 10],
] as const)(
  'a variant that is doubted is down if, when %s (%i and %i failures), %i witnesses fail',
  ([, answered, failedBefore, limit]) => {
    const endpoint = endpointWith({ answered, failedBefore });
    while (!endpoint.isDown) endpoint.failedWitnesses += 1;
    expect(endpoint.failedWitnesses).toBe(limit);
  },
);

test.for<[string, View[], number]>([
  ['variant B is asked first', [{}, {}], 0],
  ['variant B is asked twice', [{ failures: 1 }, {}], 0],
  ['then variant A is', [{ failures: 2 }, {}], 1],
  ['the run has left variant B', [{ isLeft: true }, {}], 1],
  ['variant B is down', [{ status: 'down' }, {}], 1],
  ['variant A is down', [{ failures: 2 }, { status: 'down' }], 0],
  ['variant A is doubted', [{ failures: 2 }, { status: 'doubted' }], 1],
  ['both are down', [{ status: 'down' }, { status: 'down' }], 0],
  ['variant B asks to wait', [{ status: 'held' }, {}], 0],
  ['there is one', [{ status: 'given-up', failures: 9 }], 0],
])('the next attempt goes where it should if %s', ([, views, index]) => {
  const ways = views.map(view);
  expect(ways.indexOf(route(ways, 0))).toBe(index);
});

/** Of one endpoint that has failed so often. */
const failed = (failures: number, more: View = {}) => ({
  ways: [view({ failures, counted: failures, ...more })],
  counted: failures,
});

/** Of two endpoints, of which the first one has failed so often. */
const failedFirst = (failures: number) => ({
  ways: [view({ failures, counted: failures }), view()],
  counted: failures,
});

const half = { arrived: 'each had failed' } as const;
const none = { arrived: 'none' } as const;

test.for<
  [string, 'again' | 'end' | 'fail' | 'elsewhere', Partial<Job> & { now?: number }, number | undefined]
>([
  ['the key is refused', 'end', {}, undefined],
  ['the snippet is refused', 'fail', {}, undefined],
  ['the only route is missing', 'elsewhere', { ways: [] }, undefined],
  ['one of two routes is missing', 'elsewhere', { ways: [view()], last: view() }, 0],
  ['it may be temporary', 'again', {}, 500],
  ['it may be temporary, and variant A has not been asked', 'again', failedFirst(2), 0],
  ['others arrive, after many failures', 'again', failed(9, half), 2_000],
  ['nothing arrives, after many failures', 'again', { ...failed(9, half), now: 8_001 }, 8_000],
  ['it is more than chance', 'again', failed(5), undefined],
  ['nothing has ever arrived', 'again', failed(5, none), undefined],
  ['it looks like more than chance, but the service is down', 'again', failed(5, { status: 'down' }), 2_000],
  [
    'it looks like more than chance, but the service is down, and nothing has ever arrived',
    'again',
    failed(5, { status: 'down', ...none }),
    2_000,
  ],
  ['few of its attempts say something', 'again', { ...failed(9), counted: 1 }, 2_000],
  [
    'two attempts failed at the variant that others arrive from, and 20 where nothing does',
    'again',
    {
      ways: [view({ failures: 2, counted: 2 }), view({ failures: 20, counted: 20, ...none })],
      counted: 22,
    },
    1_000,
  ],
  [
    'four did, and 20 where nothing does',
    'again',
    {
      ways: [view({ failures: 4, counted: 4 }), view({ failures: 20, counted: 20, ...none })],
      counted: 24,
    },
    undefined,
  ],
  ['its time is over', 'again', { spent: 119_500 }, undefined],
  ['there is no time to ask variant A', 'again', { ...failedFirst(2), spent: 120_000 }, undefined],
  [
    'variant B is down, and the run has left it',
    'again',
    {
      ways: [
        view({ failures: 5, counted: 5, status: 'down', isLeft: true }),
        view({ failures: 5, counted: 5 }),
      ],
      counted: 10,
    },
    undefined,
  ],
])('how long to wait if %s', ([, verdict, { now = 0, ...state }, milliseconds]) => {
  const { ways = [view({ failures: 1, counted: 1 })] } = state;
  const attempts = { ways, last: ways[0] ?? view(), counted: 1, spent: 0, ...state };
  expect(nextWait(verdict, attempts, { now, random: 1 }, defaultLimits)).toBe(milliseconds);
});

test('a limit for `attempts` is exact unless `mostAttempts` is set too', () => {
  expect(withDefaults()).toMatchObject({ attempts: 5, mostAttempts: 60 });
  expect(withDefaults({ attempts: 2 })).toMatchObject({ attempts: 2, mostAttempts: 2 });
  expect(withDefaults({ attempts: 2, mostAttempts: 9 })).toMatchObject({ attempts: 2, mostAttempts: 9 });
});
