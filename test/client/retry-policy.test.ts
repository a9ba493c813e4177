import { expect, test } from 'vitest';
import { defaultLimits, withDefaults } from '../../src/client/limits.ts';
import {
  type AttemptState,
  chooseRoute,
  type EndpointView,
  failureShare,
  isBeyondChance,
  nextStep,
  probeDelay,
  retryDelay,
  streakLimit,
} from '../../src/client/retry-policy.ts';

function view(more: Partial<EndpointView> = {}): EndpointView {
  return { status: 'open', hasAnswered: true, failures: 0, counted: 0, failureShare: 0.01, ...more };
}

test.for([
  // failures so far, random number, cap, milliseconds
  [1, 0, 8_000, 0],
  [1, 0.5, 8_000, 250],
  [1, 1, 8_000, 500],
  [3, 1, 8_000, 2_000],
  [4, 1, 2_000, 2_000],
  [5, 1, 8_000, 8_000],
  [60, 0.25, 8_000, 2_000],
] as const)(
  'the wait after %i failures with a random number of %f and a cap of %i ms is %i ms',
  ([failures, random, cap, milliseconds]) => {
    expect(retryDelay(failures, random, { ...defaultLimits, cap })).toBe(milliseconds);
  },
);

test.for([
  // probes so far, random number, milliseconds
  [0, 0, 250],
  [0, 1, 500],
  [3, 1, 4_000],
  [9, 0, 4_000],
  [9, 1, 8_000],
] as const)(
  'the wait after %i probes with a random number of %f is %i ms',
  ([probes, random, milliseconds]) => {
    expect(probeDelay(probes, random, defaultLimits)).toBe(milliseconds);
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
    expect(streakLimit(answered, failed, defaultLimits)).toBe(limit);
  },
);

test.for([
  // the share that fails by chance; the attempts after which a snippet is given up
  [0.001, 5],
  [0.05, 5],
  [0.3, 12],
  [0.5, 20],
] as const)('with %f of all attempts failing, a snippet is given up after %i', ([share, attempts]) => {
  const given = (counted: number) =>
    isBeyondChance([view({ counted, failureShare: share })], counted, defaultLimits);
  expect(given(attempts - 1)).toBe(false);
  expect(given(attempts)).toBe(true);
});

test('while nothing has arrived, a snippet is given up after five attempts', () => {
  const dead = view({ hasAnswered: false, counted: 3, failureShare: undefined });
  expect(isBeyondChance([dead, { ...dead, counted: 1 }], 4, defaultLimits)).toBe(false);
  expect(isBeyondChance([dead, { ...dead, counted: 2 }], 5, defaultLimits)).toBe(true);
});

test('a variant from which nothing has arrived says nothing about a snippet that another one may have', () => {
  const dead = view({ hasAnswered: false, counted: 20, failureShare: undefined });
  expect(isBeyondChance([view({ counted: 2 }), dead], 22, defaultLimits)).toBe(false);
  expect(isBeyondChance([view({ counted: 4 }), dead], 24, defaultLimits)).toBe(true);
});

test('the share of failures of a few attempts is closer to one half than what was seen', () => {
  expect(failureShare(0, 0)).toBe(0.5);
  expect(failureShare(1, 0)).toBeCloseTo(1 / 3);
  expect(failureShare(500, 500)).toBe(0.5);
});

test.for<[string, EndpointView[], boolean, 'ask' | 'wait' | 'refuse', number]>([
  ['both are open', [view(), view()], false, 'ask', 0],
  ['B has failed once', [view({ failures: 1 }), view()], false, 'ask', 0],
  ['B has failed twice', [view({ failures: 2 }), view()], false, 'ask', 1],
  ['the run has left B', [view(), view()], true, 'ask', 1],
  ['B is held', [view({ status: 'held' }), view()], false, 'wait', 0],
  ['B is down', [view({ status: 'down' }), view()], false, 'ask', 1],
  ['B is given up', [view({ status: 'given-up' }), view()], false, 'ask', 1],
  ['B has failed twice and A is down', [view({ failures: 2 }), view({ status: 'down' })], false, 'ask', 0],
  ['both are down', [view({ status: 'down' }), view({ status: 'down' })], false, 'wait', 0],
  ['one is down, one given up', [view({ status: 'given-up' }), view({ status: 'down' })], false, 'wait', 0],
  ['both are given up', [view({ status: 'given-up' }), view({ status: 'given-up' })], false, 'refuse', 0],
  ['the only one has failed twice', [view({ failures: 2 })], false, 'ask', 0],
  ['the only one is down', [view({ status: 'down' })], false, 'wait', 0],
])('where an attempt goes if %s', ([, views, leavesFirst, kind, index]) => {
  expect(chooseRoute(views, leavesFirst, defaultLimits)).toEqual({ kind, index });
});

function stateOf(more: Partial<AttemptState>): AttemptState {
  const views = more.views ?? [view({ failures: 1, counted: 1 })];
  return {
    views,
    failed: 0,
    attempts: 1,
    uncounted: 0,
    next: chooseRoute(views, false, defaultLimits),
    leavesFirst: false,
    isAlive: true,
    timeLeft: 60_000,
    random: 1,
    ...more,
  };
}

test.for<[string, 'again' | 'end' | 'fail' | 'elsewhere', Partial<AttemptState>, unknown]>([
  ['the key is refused', 'end', {}, { kind: 'give-up' }],
  ['the snippet is refused', 'fail', {}, { kind: 'give-up' }],
  ['the only route is missing', 'elsewhere', { views: [] }, { kind: 'give-up' }],
  ['one of two routes is missing', 'elsewhere', { views: [view()], failed: -1 }, { kind: 'fallback' }],
  ['it may be temporary', 'again', {}, { kind: 'retry', milliseconds: 500 }],
  [
    'it may be temporary, and variant A has not been asked',
    'again',
    { views: [view({ failures: 2, counted: 2 }), view()], attempts: 2 },
    { kind: 'fallback' },
  ],
  [
    'others arrive, after many failures',
    'again',
    { views: [view({ failures: 9, counted: 9, failureShare: 0.5 })], attempts: 9 },
    { kind: 'retry', milliseconds: 2_000 },
  ],
  [
    'nothing arrives, after many failures',
    'again',
    { views: [view({ failures: 9, counted: 9, failureShare: 0.5 })], attempts: 9, isAlive: false },
    { kind: 'retry', milliseconds: 8_000 },
  ],
  [
    'it is more than chance',
    'again',
    { views: [view({ failures: 5, counted: 5 })], attempts: 5 },
    { kind: 'give-up' },
  ],
  [
    'it looks like more than chance, but the service is down',
    'again',
    { views: [view({ failures: 5, counted: 5, status: 'down' })], attempts: 5 },
    { kind: 'retry', milliseconds: 2_000 },
  ],
  [
    'the attempts were made while the service was down',
    'again',
    { views: [view({ failures: 9, counted: 1 })], attempts: 9, uncounted: 8 },
    { kind: 'retry', milliseconds: 2_000 },
  ],
  ['its time is over', 'again', { timeLeft: 500 }, { kind: 'give-up' }],
  [
    'there is no time to ask variant A',
    'again',
    { views: [view({ failures: 2, counted: 2 }), view()], attempts: 2, timeLeft: 0 },
    { kind: 'give-up' },
  ],
  [
    'it has been tried as often as may be',
    'again',
    { views: [view({ failures: 60, counted: 1 })], attempts: 60, uncounted: 59 },
    { kind: 'give-up' },
  ],
  [
    'variant B is down, and the run has left it',
    'again',
    {
      views: [view({ failures: 5, counted: 5, status: 'down' }), view({ failures: 5, counted: 5 })],
      attempts: 10,
      leavesFirst: true,
    },
    { kind: 'give-up' },
  ],
])('what follows if %s', ([, verdict, state, step]) => {
  expect(nextStep(verdict, stateOf(state), defaultLimits)).toEqual(step);
});

test('a limit for `attempts` is exact unless `mostAttempts` is set too', () => {
  expect(withDefaults()).toMatchObject({ attempts: 5, mostAttempts: 60 });
  expect(withDefaults({ attempts: 2 })).toMatchObject({ attempts: 2, mostAttempts: 2 });
  expect(withDefaults({ attempts: 2, mostAttempts: 9 })).toMatchObject({ attempts: 2, mostAttempts: 9 });
});
