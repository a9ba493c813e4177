import { setImmediate as nextTurn } from 'node:timers/promises';

const turnMilliseconds = 10;

/**
 * Does synchronous work for each item, and yields to the event loop every few milliseconds. Synchronous work
 * on files is several times as fast as asynchronous work, but without pauses it would block network requests.
 */
export async function forEachYielding<T>(items: readonly T[], work: (item: T) => void): Promise<void> {
  let turnEnds = performance.now() + turnMilliseconds;
  for (const item of items) {
    work(item);
    if (performance.now() < turnEnds) continue;
    await nextTurn();
    turnEnds = performance.now() + turnMilliseconds;
  }
}
