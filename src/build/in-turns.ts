import { setImmediate as nextTurn } from 'node:timers/promises';

const turnMilliseconds = 10;

/**
 * Works through a list synchronously, a few milliseconds at a time. Reading and writing small files synchronously is
 * several times faster than waiting for the disk once per file. Between two turns the network gets its turn.
 */
export async function inTurns<T>(items: readonly T[], work: (item: T) => void): Promise<void> {
  let turnEnds = performance.now() + turnMilliseconds;
  for (const item of items) {
    work(item);
    if (performance.now() < turnEnds) continue;
    await nextTurn();
    turnEnds = performance.now() + turnMilliseconds;
  }
}
