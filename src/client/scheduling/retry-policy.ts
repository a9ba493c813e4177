import type { Limits } from '../limits.ts';
import type { EndingCode, SnippetErrorCode } from '../snippet-error.ts';
import type { Job, Route } from './job.ts';

/** What follows a failed attempt. */
export type RetryDecision =
  | 'end' // Every request would fail.
  | 'fail' // This snippet fails.
  | 'elsewhere' // Ask the other variant.
  | 'again'; // It may be temporary.

const decisions: Partial<Record<SnippetErrorCode, RetryDecision>> & Record<EndingCode, 'end'> = {
  unauthorized: 'end',
  'payment-required': 'end',
  'no-route': 'elsewhere',
  'rate-limited': 'again',
  'server-error': 'again',
  'bad-answer': 'again',
  network: 'again',
  timeout: 'again',
};

export const decisionFor = (code: SnippetErrorCode): RetryDecision => decisions[code] ?? 'fail';

/** The way that the next attempt takes, or waits for. */
export function chooseRoute(ways: readonly Route[], now: number): Route {
  const [first, second] = ways as readonly [Route, Route?];
  if (!second) return first;
  const leaves = first.endpoint.isAbandoned || first.failures >= renderAttempts;
  const [wanted, other] = leaves ? [second, first] : [first, second];
  const isClosed = ['down', 'given-up'].includes(wanted.endpoint.statusAt(now));
  return isClosed && other.endpoint.statusAt(now) === 'healthy' ? other : wanted;
}

/** Failed attempts at variant B before variant A is asked. */
const renderAttempts = 2;

// How likely a snippet that would have arrived may be given up; and a working endpoint count as down, which costs a moment.
const chanceOfLoss = 1e-6;

/** How long to wait before the next attempt, in milliseconds; `undefined` after the last. */
export function nextWait(
  verdict: RetryDecision,
  { ways, last, counted, spent }: Pick<Job, 'ways' | 'last' | 'counted' | 'spent'>,
  { now, random }: { now: number; random: number },
  limits: Limits,
): number | undefined {
  const timeLeft = limits.deadline - spent;
  if (verdict === 'end' || verdict === 'fail' || ways.length === 0 || timeLeft <= 0) return undefined;
  if (verdict === 'elsewhere') return 0;
  const known = ways.filter(({ endpoint }) => endpoint.answered > 0);
  // One that is down now may serve the snippet later.
  const mayReturn = (known.length > 0 ? known : ways).some(
    ({ endpoint }) => endpoint.statusAt(now) === 'down' && !(endpoint.isAbandoned && ways.length > 1),
  );
  if (counted >= limits.attempts && !mayReturn && isBeyondChance(known)) return undefined;
  const next = chooseRoute(ways, now);
  if (next !== last && next.endpoint.statusAt(now) === 'healthy' && next.failures === 0) return 0;
  const isAlive = now - last.endpoint.lastAnswerAt <= limits.outageCap;
  const cap = isAlive ? limits.retryCap : limits.outageCap;
  // Full jitter: builds that fail together must not come back together.
  const milliseconds = random * Math.min(cap, limits.retryBase * 2 ** last.failures);
  return milliseconds < timeLeft ? milliseconds : undefined;
}

/** Whether a snippet failed more often than chance explains. @param known its ways to endpoints that answered. */
function isBeyondChance(known: readonly Route[]) {
  // The worse of two: the other may have had few requests.
  const share = Math.max(...known.map(({ endpoint }) => endpoint.failureShare));
  return (
    known.length === 0 || share ** known.reduce((sum, way) => sum + way.conclusiveFailures, 0) < chanceOfLoss
  );
}

/** How long after a probe the next one asks. Full jitter would make more requests than meant. */
export const probeDelay = (failed: number, random: number, { retryBase, outageCap }: Limits): number =>
  (0.5 + random / 2) * Math.min(outageCap, retryBase * 2 ** (failed + 1));
