import { expect, test } from 'vitest';
import { defaultLimits, withDefaults } from '../../src/client/limits.ts';
import {
  type AttemptState,
  type EndpointStatus,
  failureShare,
  nextWait,
  route,
  rowLimit,
  type Way,
  witnessDelay,
  witnessLimit,
} from '../../src/client/retry-policy.ts';

interface View {
  status: EndpointStatus;
  failures: number;
  counted: number;
  failureShare: number | undefined;
}

function view(more: Partial<View> = {}): Way {
  const { status, failureShare, ...way } = {
    ...{ status: 'open' as const, failures: 0, counted: 0, failureShare: 0.01 },
    ...more,
  };
  return { ...way, endpoint: { status: () => status, failureShare } };
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
  ([, answered, failed, limit]) => {
    expect(rowLimit(answered, failed, defaultLimits)).toBe(limit);
  },
);

test.for([
  ['nothing was answered', 0, 0, 1],
  ['all arrived at once', 400, 0, 2],
  ['each had failed once', 400, 400, 10],
] as const)(
  'a variant that is doubted is down if, when %s (%i and %i failures), %i witnesses fail',
  ([, answered, failed, limit]) => {
    expect(witnessLimit(answered === 0 ? undefined : failureShare(answered, failed))).toBe(limit);
  },
);

test.for<[string, Partial<View>[], boolean, number]>([
  ['variant B is asked first', [{}, {}], false, 0],
  ['variant B is asked twice', [{ failures: 1 }, {}], false, 0],
  ['then variant A is', [{ failures: 2 }, {}], false, 1],
  ['the run has left variant B', [{}, {}], true, 1],
  ['variant B is down', [{ status: 'down' }, {}], false, 1],
  ['variant A is down', [{ failures: 2 }, { status: 'down' }], false, 0],
  ['variant A is doubted', [{ failures: 2 }, { status: 'doubted' }], false, 1],
  ['both are down', [{ status: 'down' }, { status: 'down' }], false, 0],
  ['variant B asks to wait', [{ status: 'held' }, {}], false, 0],
  ['there is one', [{ status: 'given-up', failures: 9 }], false, 0],
])('the next attempt goes where it should if %s', ([, views, leavesFirst, index]) => {
  const ways = views.map(view);
  expect(ways.indexOf(route(ways, 0, leavesFirst))).toBe(index);
});

function stateOf(more: Partial<AttemptState>): AttemptState {
  const ways = more.ways ?? [view({ failures: 1, counted: 1 })];
  return {
    ways,
    failed: ways[0] ?? view(),
    counted: 1,
    leavesFirst: false,
    isAlive: true,
    timeLeft: 60_000,
    random: 1,
    now: 0,
    ...more,
  };
}

/** Of one endpoint that has failed so often. */
const failed = (failures: number, more: Partial<View> = {}) => ({
  ways: [view({ failures, counted: failures, ...more })],
  counted: failures,
});

/** Of two endpoints, of which the first one has failed so often. */
const failedFirst = (failures: number) => ({
  ways: [view({ failures, counted: failures }), view()],
  counted: failures,
});

const unknown = { failureShare: undefined };

test.for<[string, 'again' | 'end' | 'fail' | 'elsewhere', Partial<AttemptState>, number | undefined]>([
  ['the key is refused', 'end', {}, undefined],
  ['the snippet is refused', 'fail', {}, undefined],
  ['the only route is missing', 'elsewhere', { ways: [] }, undefined],
  ['one of two routes is missing', 'elsewhere', { ways: [view()], failed: view() }, 0],
  ['it may be temporary', 'again', {}, 500],
  ['it may be temporary, and variant A has not been asked', 'again', failedFirst(2), 0],
  ['others arrive, after many failures', 'again', failed(9, { failureShare: 0.5 }), 2_000],
  [
    'nothing arrives, after many failures',
    'again',
    { ...failed(9, { failureShare: 0.5 }), isAlive: false },
    8_000,
  ],
  ['it is more than chance', 'again', failed(5), undefined],
  ['nothing has ever arrived', 'again', failed(5, unknown), undefined],
  ['it looks like more than chance, but the service is down', 'again', failed(5, { status: 'down' }), 2_000],
  [
    'it looks like more than chance, but the service is down, and nothing has ever arrived',
    'again',
    failed(5, { status: 'down', ...unknown }),
    2_000,
  ],
  ['few of its attempts say something', 'again', { ...failed(9), counted: 1 }, 2_000],
  [
    'two attempts failed at the variant that others arrive from, and 20 where nothing does',
    'again',
    {
      ways: [view({ failures: 2, counted: 2 }), view({ failures: 20, counted: 20, ...unknown })],
      counted: 22,
    },
    1_000,
  ],
  [
    'four did, and 20 where nothing does',
    'again',
    {
      ways: [view({ failures: 4, counted: 4 }), view({ failures: 20, counted: 20, ...unknown })],
      counted: 24,
    },
    undefined,
  ],
  ['its time is over', 'again', { timeLeft: 500 }, undefined],
  ['there is no time to ask variant A', 'again', { ...failedFirst(2), timeLeft: 0 }, undefined],
  [
    'variant B is down, and the run has left it',
    'again',
    {
      ways: [view({ failures: 5, counted: 5, status: 'down' }), view({ failures: 5, counted: 5 })],
      counted: 10,
      leavesFirst: true,
    },
    undefined,
  ],
])('how long to wait if %s', ([, verdict, state, milliseconds]) => {
  expect(nextWait(verdict, stateOf(state), defaultLimits)).toBe(milliseconds);
});

test('a limit for `attempts` is exact unless `mostAttempts` is set too', () => {
  expect(withDefaults()).toMatchObject({ attempts: 5, mostAttempts: 60 });
  expect(withDefaults({ attempts: 2 })).toMatchObject({ attempts: 2, mostAttempts: 2 });
  expect(withDefaults({ attempts: 2, mostAttempts: 9 })).toMatchObject({ attempts: 2, mostAttempts: 9 });
});
