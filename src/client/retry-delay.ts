import type { Limits } from './limits.ts';

/**
 * How long to wait after the `failures`-th failure (1 is the first): full jitter, so that builds which failed
 * together do not come back together. In milliseconds; the cap is applied before the chance.
 */
export function retryDelay(
  failures: number,
  random: number,
  { retryBase, retryCap }: Pick<Limits, 'retryBase' | 'retryCap'>,
): number {
  return random * Math.min(retryCap, retryBase * 2 ** failures);
}
