import { Breaker } from './breaker.ts';
import type { Clock } from './clock.ts';
import type { Limits } from './limits.ts';
import type { Notice } from './notice.ts';

/** Why a request is not made, and need not be tried again: no one at this origin is let through for so long. */
export type Refusal = { kind: 'held'; milliseconds: number } | { kind: 'unavailable'; milliseconds: number };

/**
 * Stands before one origin. Every request passes it, so that a `Retry-After` holds all workers back and not
 * only the one that received it, and so that a dead service is left alone ({@link Breaker}).
 */
export class OriginGate {
  readonly #origin: string;
  readonly #clock: Clock;
  readonly #limits: Limits;
  readonly #notify: (notice: Notice) => void;
  readonly #breaker: Breaker;
  #heldUntil = 0;
  #closed = new AbortController();

  constructor(origin: string, clock: Clock, limits: Limits, notify: (notice: Notice) => void) {
    this.#origin = origin;
    this.#clock = clock;
    this.#limits = limits;
    this.#notify = notify;
    this.#breaker = new Breaker(limits);
  }

  /** Whether requests here are failing so often that they wait. */
  get isOpen(): boolean {
    return this.#breaker.isOpen;
  }

  /**
   * Waits until a request may be made, and says nothing; or says why it will not be, at once where the wait
   * would be too long, or would end after `deadline`. Rejects with the signal's reason when it is aborted.
   */
  async enter(deadline: number, signal: AbortSignal): Promise<Refusal | undefined> {
    for (;;) {
      const now = this.#clock.now();
      const hold = this.#heldUntil - now;
      if (hold > 0) {
        if (hold > this.#limits.retryAfter || this.#heldUntil > deadline) {
          return { kind: 'held', milliseconds: hold };
        }
        await this.#clock.wait(hold, signal);
        continue;
      }
      const permission = this.#breaker.permission(now);
      if (permission === 'go') return undefined;
      if ('failingSince' in permission) {
        return { kind: 'unavailable', milliseconds: now - permission.failingSince };
      }
      if (permission.waitUntil > deadline)
        return { kind: 'unavailable', milliseconds: permission.waitUntil - now };
      await this.#waitForBreaker(permission.waitUntil - now, signal);
    }
  }

  /** Holds every request to this origin back for so many milliseconds from now (`Retry-After`). */
  hold(milliseconds: number): void {
    const until = this.#clock.now() + milliseconds;
    if (until <= this.#heldUntil) return;
    if (this.#heldUntil <= this.#clock.now() && milliseconds > 0 && milliseconds <= this.#limits.retryAfter) {
      this.#notify({ kind: 'held', origin: this.#origin, milliseconds });
    }
    this.#heldUntil = until;
  }

  record(success: boolean): void {
    const change = this.#breaker.record(success, this.#clock.now());
    if (change === 'opened') this.#notify({ kind: 'failing', origin: this.#origin });
    if (change !== 'closed') return;
    this.#notify({ kind: 'recovered', origin: this.#origin });
    this.#closed.abort();
    this.#closed = new AbortController();
  }

  /** Until the next probe may be made, or another's probe has succeeded. */
  async #waitForBreaker(milliseconds: number, signal: AbortSignal): Promise<void> {
    const closed = this.#closed.signal;
    try {
      await this.#clock.wait(milliseconds, AbortSignal.any([signal, closed]));
    } catch (error) {
      if (signal.aborted || !closed.aborted) throw error;
    }
  }
}
