import type { Clock } from '../client/clock.ts';

/** How much a wait may be longer or shorter than asked for, so that many sites do not ask at the same moment. */
const jitter = 0.1;

/** @param random from 0 to 1. */
export function jittered(milliseconds: number, random: number): number {
  return milliseconds * (1 - jitter + 2 * jitter * random);
}

/** Takes turns, one after the other and never two at once, until the signal is aborted. */
export async function poll(
  every: number,
  turn: () => Promise<void>,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await turn();
    if (!signal.aborted) await clock.wait(jittered(every, clock.random()), signal).catch(() => {});
  }
}
