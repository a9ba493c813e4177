import type { Limits } from '../limits.ts';
import type { EndingCode, SnippetErrorCode } from '../snippet-error.ts';
import type { Endpoint } from './endpoint.ts';
import type { AttemptHistory, Route } from './job.ts';

/** The step that follows a failed attempt. */
export type RetryDecision =
  | 'end' // Every request would fail, so the run ends.
  | 'fail' // The snippet fails; others go on.
  | 'other-variant' // This variant has no such URL, so the other variant is asked.
  | 'retry'; // The failure may be temporary, so the snippet is asked for again.

/** What each error code leads to. A code that is not listed fails its snippet alone. */
const decisions: Partial<Record<SnippetErrorCode, RetryDecision>> & Record<EndingCode, 'end'> = {
  unauthorized: 'end',
  'payment-required': 'end',
  'internal-error': 'end',
  'no-route': 'other-variant',
  'rate-limited': 'retry',
  'server-error': 'retry',
  'bad-answer': 'retry',
  network: 'retry',
  timeout: 'retry',
};

/** Decides what follows an error with this code. The variant makes no difference. */
export const decisionFor = (code: SnippetErrorCode): RetryDecision => decisions[code] ?? 'fail';

/** How often a snippet may fail at variant B (rendering) before variant A (retrieving) is asked. */
const renderAttempts = 2;

/** Chooses which endpoint gets the next attempt for a snippet. The routes are one or two, variant B first. */
export function chooseRoute(routes: readonly Route[], now: number): Route {
  const [first, second] = routes as readonly [Route, Route?];
  if (!second) return first;

  const isPastFirst = first.endpoint.isAbandoned || first.failures >= renderAttempts;
  const wanted = isPastFirst ? second : first;
  const other = isPastFirst ? first : second;

  // If the wanted endpoint is down and the other one is healthy, the other one is asked at once.
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

  // Only endpoints that have answered show how often attempts fail by chance, so the others are left out.
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

/** The accepted probability of giving up a snippet that would have arrived at a later attempt. */
const chanceOfLoss = 1e-6;

/** Whether a snippet has failed more often than chance explains, at endpoints that have answered others. */
function isBeyondChance(answeringRoutes: readonly Route[]) {
  // If no endpoint has answered, chance cannot be estimated, so the number of attempts alone decides.
  if (answeringRoutes.length === 0) return true;
  // The higher share of chance failures counts, as the other may rest on few requests.
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
