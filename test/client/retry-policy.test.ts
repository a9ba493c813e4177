import { expect, test } from 'vitest';
import { parseBaseUrl } from '../../src/client/base-url.ts';
import { defaultLimits, withDefaults } from '../../src/client/limits.ts';
import { Endpoint, type EndpointStatus } from '../../src/client/scheduling/endpoint.ts';
import type { Route } from '../../src/client/scheduling/job.ts';
import { nextWait, probeDelay } from '../../src/client/scheduling/retry-policy.ts';

// test/promises/failing-service.test.ts tests this policy against services. These are its waits, and cases that a
// simulation rarely meets.

interface View extends Partial<Pick<Endpoint, 'answered' | 'chanceFailures' | 'isAbandoned'>> {
  status?: EndpointStatus;
}

/** A route to an endpoint where a snippet has failed this often. */
function failed(failures: number, { status = 'healthy', answered = 98, ...state }: View = {}): Route {
  const endpoint = new Endpoint('render', parseBaseUrl('base', 'https://render.test'), defaultLimits);
  Object.assign(endpoint, { answered, lastAnswerAt: 0, statusAt: () => status, ...state });
  return { endpoint, failures, conclusiveFailures: failures, lastFailureAt: 0 };
}

test.for([
  // probes that failed, random number, milliseconds
  [0, 0, 250],
  [0, 1, 500],
  [3, 1, 4_000],
  [9, 0, 4_000],
  [9, 1, 8_000],
] as const)(
  'the wait after %i probes with a random number of %f is %i ms',
  ([failed, random, milliseconds]) => {
    expect(probeDelay(failed, random, defaultLimits)).toBe(milliseconds);
  },
);

// Each snippet that arrived had failed once.
const half = { chanceFailures: 98 };

test.for<[string, routes: Route[], milliseconds: number | undefined, now?: number]>([
  ['others arrive, after many failures', [failed(9, half)], 2_000],
  ['nothing arrives, after many failures', [failed(9, half)], 8_000, 8_001],
  ['it is more than chance', [failed(5)], undefined],
  ['it looks like more than chance, but the service is down', [failed(5, { status: 'down' })], 2_000],
  ['the service is down, and nothing has ever arrived', [failed(5, { status: 'down', answered: 0 })], 2_000],
  [
    'variant B is down, and the run has left it',
    [failed(5, { status: 'down', isAbandoned: true }), failed(5)],
    undefined,
  ],
])('how long to wait if %s', ([, routes, milliseconds, now = 0]) => {
  const conclusiveAttempts = routes.reduce((sum, route) => sum + route.conclusiveFailures, 0);
  const history = { routes, lastRoute: routes[0] as Route, conclusiveAttempts, spent: 0 };
  expect(nextWait('retry', history, { now, random: 1 }, defaultLimits)).toBe(milliseconds);
});

test('a limit for `attempts` is exact unless `mostAttempts` is set too', () => {
  expect(withDefaults()).toMatchObject({ attempts: 5, mostAttempts: 60 });
  expect(withDefaults({ attempts: 2 })).toMatchObject({ attempts: 2, mostAttempts: 2 });
  expect(withDefaults({ attempts: 2, mostAttempts: 9 })).toMatchObject({ attempts: 2, mostAttempts: 9 });
});
