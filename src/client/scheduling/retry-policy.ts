import type { Limits } from '../limits.ts';
import type { EndingCode, SnippetErrorCode } from '../snippet-error.ts';
import type { Endpoint } from './endpoint.ts';
import type { AttemptHistory, Route } from './job.ts';

/** The step that follows a failed attempt. */
export type RetryDecision =
  | 'end' // Every request would fail, so the run ends.
  | 'fail' // The snippet fails; others go on.
  | 'other-variant' // The route does not exist. The other variant is asked.
  | 'retry'; // The failure may be temporary.

/** Codes that are not listed fail the snippet. */
const decisions: Partial<Record<SnippetErrorCode, RetryDecision>> & Record<EndingCode, 'end'> = {
  unauthorized: 'end',
  'payment-required': 'end',
  'no-route': 'other-variant',
  'rate-limited': 'retry',
  'server-error': 'retry',
  'bad-answer': 'retry',
  network: 'retry',
  timeout: 'retry',
};

/** Decides what an error means for its snippet, for both variants alike. */
export const decisionFor = (code: SnippetErrorCode): RetryDecision => decisions[code] ?? 'fail';

/** Failed attempts at variant B before variant A is asked. */
const renderAttempts = 2;

/** Chooses, from one or two routes with variant B first, the one that the next attempt takes or waits for. */
export function chooseRoute(routes: readonly Route[], now: number): Route {
  const [first, second] = routes as readonly [Route, Route?];
  if (!second) return first;

  const isPastFirst = first.endpoint.isAbandoned || first.failures >= renderAttempts;
  const wanted = isPastFirst ? second : first;
  const other = isPastFirst ? first : second;

  // Nobody waits for an endpoint that is down if the other one is healthy.
  const status = wanted.endpoint.statusAt(now);
  const isClosed = status === 'down' || status === 'given-up';
  return isClosed && other.endpoint.statusAt(now) === 'healthy' ? other : wanted;
}

/** How many milliseconds to wait before the next attempt for a snippet; `undefined` if there is none. */
export function nextWait(
  decision: RetryDecision,
  { routes, lastRoute, conclusiveAttempts, spent }: AttemptHistory,
  { now, random }: { now: number; random: number },
  limits: Limits,
): number | undefined {
  const timeLeft = limits.deadline - spent;
  if (decision === 'end' || decision === 'fail' || routes.length === 0 || timeLeft <= 0) return undefined;
  if (decision === 'other-variant') return 0;

  // An endpoint that has never answered says nothing of how often attempts fail by chance.
  const answeringRoutes = routes.filter(({ endpoint }) => endpoint.answered > 0);
  const isHopeless = conclusiveAttempts >= limits.attempts && isBeyondChance(answeringRoutes);
  if (isHopeless && !mayReturn(routes, answeringRoutes, now)) return undefined;

  const nextRoute = chooseRoute(routes, now);
  const isUntriedRoute = nextRoute !== lastRoute && nextRoute.failures === 0;
  if (isUntriedRoute && nextRoute.endpoint.statusAt(now) === 'healthy') return 0;

  const isAlive = now - lastRoute.endpoint.lastAnswerAt <= limits.outageCap;
  const cap = isAlive ? limits.retryCap : limits.outageCap;
  // Full jitter: builds that fail together must not come back together.
  const milliseconds = random * Math.min(cap, limits.retryBase * 2 ** lastRoute.failures);
  return milliseconds < timeLeft ? milliseconds : undefined;
}

/** How likely a snippet that would have arrived may be given up. */
const chanceOfLoss = 1e-6;

/** Whether a snippet has failed more often than chance explains, at endpoints that have answered others. */
function isBeyondChance(answeringRoutes: readonly Route[]) {
  // Without such an endpoint, the number of attempts decides.
  if (answeringRoutes.length === 0) return true;
  // The worse of the two shares counts: the other endpoint may have had few requests.
  const share = Math.max(...answeringRoutes.map(({ endpoint }) => endpoint.failureShare));
  const failures = answeringRoutes.reduce((sum, route) => sum + route.conclusiveFailures, 0);
  return share ** failures < chanceOfLoss;
}

/** Whether an endpoint that is down now may serve the snippet later. */
function mayReturn(routes: readonly Route[], answeringRoutes: readonly Route[], now: number) {
  const candidates = answeringRoutes.length > 0 ? answeringRoutes : routes;
  const isLeft = (endpoint: Endpoint) => endpoint.isAbandoned && routes.length > 1;
  return candidates.some(({ endpoint }) => endpoint.statusAt(now) === 'down' && !isLeft(endpoint));
}

/**
 * How long after a probe the next one asks, in milliseconds, by the number of probes that have failed since
 * the last answer. Half of the time is certain: with full jitter, there would be more requests than meant.
 */
export const probeDelay = (failedProbes: number, random: number, { retryBase, outageCap }: Limits): number =>
  (0.5 + random / 2) * Math.min(outageCap, retryBase * 2 ** (failedProbes + 1));
