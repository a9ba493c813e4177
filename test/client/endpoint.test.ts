import { expect, test } from 'vitest';
import {
  type Endpoint,
  type Failure,
  giveUp,
  newHealth,
  noteAnswer,
  noteFailure,
  noteProbe,
  noteUnproven,
  patienceEnds,
  viewOf,
} from '../../src/client/endpoint.ts';
import { defaultLimits as limits } from '../../src/client/limits.ts';

const circumstances = { now: 1_000, random: 0, limits };
const answer = { isFirst: true, counted: 0, now: 1_000 };

function failure(id: number, more: Partial<Failure> = {}): Failure {
  return { id, isFirst: true, startedAt: 900, reason: '503', ...more };
}

function fail(count: number, more: Partial<Failure> = {}, health = newHealth()) {
  for (let id = 1; id <= count; id += 1) noteFailure(health, failure(id, more), circumstances);
  return health;
}

test('five snippets in a row that fail at their first attempt take a variant down', () => {
  expect(fail(4).state).toBe('up');
  expect(fail(5).state).toBe('down');
});

test('retries never take a variant down, however many fail', () => {
  expect(fail(100, { isFirst: false }).state).toBe('up');
});

test('an answer ends the row of failures', () => {
  const health = fail(4);
  noteAnswer(health, answer);
  expect(fail(4, {}, health)).toMatchObject({ state: 'up', firstAnswered: 1, firstFailed: 4 });
});

test('the answer to a retry says nothing about first attempts', () => {
  const health = newHealth();
  noteAnswer(health, { ...answer, isFirst: false, counted: 3 });
  expect(health).toMatchObject({ firstAnswered: 0, answered: 1, failedBeforeAnswer: 3 });
});

test('a failure says something about its snippet until the variant is down', () => {
  const health = fail(3);
  expect(noteFailure(health, failure(4), circumstances)).toBe(true);
  expect(noteFailure(health, failure(5), circumstances)).toBe(false);
});

test('a variant has been failing since the start of the first request that failed', () => {
  const health = fail(1, { startedAt: 500 });
  expect(fail(1, { startedAt: 900 }, health).failingSince).toBe(500);
  noteAnswer(health, answer);
  expect(health.failingSince).toBeUndefined();
});

test('a snippet that arrived before and fails now takes a variant down that never answered', () => {
  const health = newHealth();
  noteUnproven(health, failure(1, { isFirst: false }), circumstances);
  expect(health.state).toBe('down');
});

test('snippets that arrived before and fail now take a variant down only if that is not chance', () => {
  const health = newHealth();
  for (let count = 0; count < 100; count += 1) noteAnswer(health, answer);
  noteUnproven(health, failure(1, { isFirst: false }), circumstances);
  expect(health.state).toBe('up');
  noteUnproven(health, failure(2, { isFirst: false }), circumstances);
  expect(health.state).toBe('down');
});

test('failures of snippets that arrived before count as chance only if the variant was not down', () => {
  const up = newHealth();
  for (let count = 0; count < 100; count += 1) noteAnswer(up, answer);
  noteUnproven(up, failure(1, { isFirst: false }), circumstances);
  noteAnswer(up, answer);
  expect(up.failedBeforeAnswer).toBe(1);
  const down = newHealth();
  noteUnproven(down, failure(1, { isFirst: false }), circumstances);
  noteAnswer(down, answer);
  expect(down).toMatchObject({ failedBeforeAnswer: 0, unproven: 0 });
});

test('probes come further apart, and start close together again after an answer', () => {
  const health = fail(5);
  expect(health.nextProbe).toBe(1_250);
  noteProbe(health, circumstances);
  expect(health.nextProbe).toBe(1_500);
  noteProbe(health, circumstances);
  expect(health.nextProbe).toBe(2_000);
  noteAnswer(health, answer);
  // More than five, since some have failed before the answer.
  expect(fail(30, {}, health)).toMatchObject({ state: 'down', nextProbe: 1_250 });
});

test('a variant that was given up is asked again after 8 s, and is up again when it answers', () => {
  const health = fail(5);
  giveUp(health, 80_000, limits);
  expect(health).toMatchObject({ state: 'given-up', nextProbe: 88_000 });
  noteAnswer(health, answer);
  expect(health.state).toBe('up');
});

test.for([
  ['a variant is waited for as long as `patience`', 75_000, 0, 76_000],
  ['a variant is waited for no longer than `deadline`', 10_000, 0, 11_000],
  ['a pause that ends earlier changes nothing', 75_000, 73_999, 76_000],
  ['after a longer pause there is time for one more request', 75_000, 74_000, 76_000],
  ['after a pause beyond `patience` there is time for one more request', 75_000, 100_000, 102_000],
] as const)('%s', ([, deadline, heldUntil, ends]) => {
  const endpoint = { health: fail(5, { startedAt: 1_000 }), origin: { name: '', heldUntil } };
  expect(patienceEnds(endpoint as unknown as Endpoint, { ...limits, deadline })).toBe(ends);
});

test('a pause is over at its end, and hides whether the variant is down', () => {
  const endpoint = { health: fail(5), origin: { name: '', heldUntil: 2_000 } } as unknown as Endpoint;
  const tally = { failures: 0, counted: 0, lastFailure: 0 };
  expect(viewOf(endpoint, tally, 1_999).status).toBe('held');
  expect(viewOf(endpoint, tally, 2_000).status).toBe('down');
});
