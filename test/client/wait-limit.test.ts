import { expect, test } from 'vitest';
import { defaultLimits } from '../../src/client/limits.ts';
import { WaitLimit } from '../../src/client/scheduling/wait-limit.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
/** A point in time, in seconds after the start. */
const at = (seconds: number) => start + seconds * 1_000;

/** When the wait of a run with the default limits (120 s for a wait, 15 s for a request) ends, in seconds. */
function endAfter(events: (wait: WaitLimit) => void): number {
  const wait = new WaitLimit(defaultLimits);
  wait.resume(at(0));
  events(wait);
  return (wait.endsAt - start) / 1_000;
}

test.for<[name: string, end: number, events: (wait: WaitLimit) => void]>([
  ['without an answer', 120, () => {}],
  ['with an answer', 160, (wait) => wait.restart(at(40))],
  [
    'with an idle time shorter than the limit',
    150,
    (wait) => {
      wait.pause(at(40));
      wait.resume(at(70));
    },
  ],
  [
    'with an idle time as long as the limit',
    280,
    (wait) => {
      wait.pause(at(40));
      wait.resume(at(160));
    },
  ],
  [
    'that ended, for snippets that are asked for later',
    145,
    (wait) => {
      wait.pause(at(120));
      wait.resume(at(130));
    },
  ],
  [
    'with requests that do not count and overlap',
    140,
    (wait) => {
      wait.exclude(at(10), at(20));
      wait.exclude(at(15), at(30));
    },
  ],
  [
    'with a request that does not count, before and after an answer',
    155,
    (wait) => {
      wait.restart(at(30));
      wait.exclude(at(25), at(35));
    },
  ],
  ['with a timer that is late as usual', 120, (wait) => wait.noteLateness(at(118), at(119))],
  ['with a timer that is so late that something blocked', 134, (wait) => wait.noteLateness(at(117), at(119))],
])('a wait %s ends after %s s', ([, end, events]) => {
  expect(endAfter(events)).toBe(end);
});

test('a wait is never longer than the limit, also after a request that something has blocked for longer', () => {
  const wait = new WaitLimit({ ...defaultLimits, deadline: 20_000 });
  wait.resume(at(0));
  wait.noteLateness(at(15), at(100));
  wait.exclude(at(0), at(100));
  expect(wait.endsAt).toBe(at(120));
});
