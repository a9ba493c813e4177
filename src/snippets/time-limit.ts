import { timerLength, unlessAborted } from '../client/clock.ts';
import { SnippetError } from '../client/snippet-error.ts';
import { formatDuration } from '../text/format.ts';

/** Limits the time for all snippets of a run together (the option `timeout`). */
export class TimeLimit {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  /** Rejects when the time is over, or on abort. Shared, as a thousand listeners on a signal are slow. */
  readonly ended: Promise<never>;

  /** @param spent how much of the limit was used before, in milliseconds */
  constructor(milliseconds: number, spent: number, signal: AbortSignal | undefined) {
    const reason = `not fetched within ${formatDuration(milliseconds, 'long')}, the limit for all snippets (\`timeout\`)`;
    const end = () => this.#controller.abort(new SnippetError('timeout', reason));
    this.#timer = setTimeout(end, timerLength(milliseconds - spent));

    const timeout = this.#controller.signal;
    const either = signal ? AbortSignal.any([signal, timeout]) : timeout;
    this.ended = unlessAborted(either, new Promise<never>(() => {}));
    this.ended.catch(() => {});
  }

  isTimeout(error: unknown): boolean {
    return error === this.#controller.signal.reason;
  }

  stop(): void {
    clearTimeout(this.#timer);
    // Abort to drop the listener on the caller's signal, which would keep every answer of `watch` in memory.
    this.#controller.abort();
  }
}
