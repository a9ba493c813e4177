/**
 * How many requests are made at once before anything is known about the service. It is also how many connections are
 * opened at most: HTTP/1.1 needs one for each request, and many servers refuse more from one client.
 */
export const firstPace = 20;

/**
 * How many requests to make at once, after one was answered or failed. Grows while the service keeps up, and shrinks
 * faster than it grows; never below where it started, so that a few snippets that keep failing do not slow all others
 * down.
 *
 * @param pace how many were made at once so far.
 * @param most the upper bound, for the client or for the connections it has.
 */
export function nextPace(pace: number, outcome: 'answered' | 'failed', most: number): number {
  const next = outcome === 'answered' ? pace + 1 : Math.max(firstPace, Math.floor(pace / 2));
  return Math.min(next, most);
}
