import { setImmediate as nextTurn } from 'node:timers/promises';

const longestTurn = 10;

/**
 * Works through a list without waiting in between, for some milliseconds at a time: files of a few kilobytes are read
 * and written several times faster than the disk can be asked for each and waited for. Between two turns the network
 * has its turn, and the signal is heard.
 */
export async function inTurns<T>(
  items: readonly T[],
  signal: AbortSignal,
  work: (item: T) => void,
): Promise<void> {
  let turnEnds = performance.now() + longestTurn;
  for (const item of items) {
    work(item);
    if (performance.now() < turnEnds) continue;
    await nextTurn();
    signal.throwIfAborted();
    turnEnds = performance.now() + longestTurn;
  }
  signal.throwIfAborted();
}
