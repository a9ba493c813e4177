import { expect, test } from 'vitest';
import { defaultLimits, withDefaults } from '../../src/client/limits.ts';
import {
  type AttemptState,
  chooseRoute,
  type EndpointView,
  isBeyondChance,
  nextStep,
  probeDelay,
  streakLimit,
} from '../../src/client/retry-policy.ts';

function view(more: Partial<EndpointView> = {}): EndpointView {
  return { status: 'open', hasAnswered: true, failures: 0, counted: 0, failureShare: 0.01, ...more };
}

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

test('a variant from which nothing has arrived says nothing about a snippet that another one may have', () => {
  const dead = view({ hasAnswered: false, counted: 20, failureShare: undefined });
  expect(isBeyondChance([view({ counted: 2 }), dead], 22, defaultLimits)).toBe(false);
  expect(isBeyondChance([view({ counted: 4 }), dead], 24, defaultLimits)).toBe(true);
});

test('a variant that is down is not waited for while the other one may be asked', () => {
  const views = [view({ failures: 2 }), view({ status: 'down' })];
  expect(chooseRoute(views, false, defaultLimits)).toEqual({ kind: 'ask', index: 0 });
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
    'it looks like more than chance, but nothing has ever arrived',
    'again',
    { views: [view({ failures: 5, counted: 5, status: 'down', hasAnswered: false })], attempts: 5 },
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
