import { constants } from 'node:os';

const signals = ['SIGINT', 'SIGTERM'] as const;

/**
 * Does work that must not be left half done. On Ctrl-C, or when the process is asked to end, the work's signal
 * is aborted; once the work has ended, the process ends as it would have.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  let received: (typeof signals)[number] | undefined;
  const interrupt = (signal: NodeJS.Signals) => {
    received ??= signal as (typeof signals)[number];
    controller.abort();
  };
  for (const signal of signals) process.on(signal, interrupt);
  try {
    return await work(controller.signal);
  } finally {
    for (const signal of signals) process.off(signal, interrupt);
    if (received !== undefined) process.exit(128 + constants.signals[received]);
  }
}
