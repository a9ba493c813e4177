import type { Clock } from './clock.ts';
import type { Limits } from './limits.ts';

/**
 * What a user of the client may want to know while it works.
 *
 * - `held`: the service asked (`Retry-After`) for a pause of so many milliseconds.
 * - `failing`: so many requests to this origin fail that it is only probed now and then.
 * - `recovered`: it responds again.
 * - `render-given-up`: variant B failed for several snippets in a row; variant A is asked from now on.
 */
export type Notice =
  | { kind: 'held'; origin: string; milliseconds: number }
  | { kind: 'failing'; origin: string }
  | { kind: 'recovered'; origin: string }
  | { kind: 'render-given-up' };

/** Why a request is not made, and for how long the origin has been, or will be, closed to requests. */
export type Refusal = { kind: 'held'; milliseconds: number } | { kind: 'unavailable'; milliseconds: number };

/**
 * Guards one origin. Every request passes it, so that a `Retry-After` holds back all requests instead of only the one
 * that received it, and so that a dead service is left alone.
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

  /** Whether so many requests fail that new ones have to wait. */
  get isOpen(): boolean {
    return this.#breaker.isOpen;
  }

  /**
   * Waits until a request may be made. Returns a refusal at once if the wait would be too long or end after
   * `deadline`. Rejects with the signal's reason when it is aborted.
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
      if (permission.waitUntil > deadline) {
        return { kind: 'unavailable', milliseconds: permission.waitUntil - now };
      }
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

  /** Waits until the next probe is due, or the breaker closes. */
  async #waitForBreaker(milliseconds: number, signal: AbortSignal): Promise<void> {
    const closed = this.#closed.signal;
    try {
      await this.#clock.wait(milliseconds, AbortSignal.any([signal, closed]));
    } catch (error) {
      if (signal.aborted || !closed.aborted) throw error;
    }
  }
}

type BreakerLimits = Pick<Limits, 'breakerWindow' | 'breakerMinimum' | 'breakerProbe' | 'breakerPatience'>;

/** Whether a request may be made now, later, or not at all because nothing has succeeded for too long. */
export type Permission = 'go' | { waitUntil: number } | { failingSince: number };

/**
 * Counts the attempts at one origin, so that a dead service is not asked thousands of times. It opens when half of
 * the last attempts failed. While it is open, one attempt now and then is a probe; a success closes it. When nothing
 * has succeeded for too long, all requests but the probes are refused.
 *
 * Has no clock: every time, in milliseconds, is passed in.
 */
export class Breaker {
  readonly #limits: BreakerLimits;
  readonly #recent: boolean[] = [];
  #failingSince: number | undefined;
  #nextProbe: number | undefined;

  constructor(limits: BreakerLimits) {
    this.#limits = limits;
  }

  get isOpen(): boolean {
    return this.#nextProbe !== undefined;
  }

  permission(now: number): Permission {
    if (this.#nextProbe === undefined || this.#failingSince === undefined) return 'go';
    if (now >= this.#nextProbe) {
      this.#nextProbe = now + this.#limits.breakerProbe;
      return 'go';
    }
    const patienceEnds = this.#failingSince + this.#limits.breakerPatience;
    if (now >= patienceEnds) return { failingSince: this.#failingSince };
    return { waitUntil: Math.min(this.#nextProbe, patienceEnds) };
  }

  /** Counts the result of an attempt. Returns whether it opened or closed the breaker. */
  record(success: boolean, now: number): 'opened' | 'closed' | undefined {
    const wasOpen = this.isOpen;
    if (success) {
      this.#failingSince = undefined;
      this.#nextProbe = undefined;
      // What was counted before describes another state of the service.
      if (wasOpen) this.#recent.length = 0;
    } else {
      this.#failingSince ??= now;
    }
    this.#recent.push(success);
    if (this.#recent.length > this.#limits.breakerWindow) this.#recent.shift();
    if (wasOpen) return success ? 'closed' : undefined;
    if (success || !this.#tooManyFail()) return undefined;
    this.#nextProbe = now + this.#limits.breakerProbe;
    return 'opened';
  }

  #tooManyFail(): boolean {
    const failures = this.#recent.filter((success) => !success).length;
    return this.#recent.length >= this.#limits.breakerMinimum && failures * 2 >= this.#recent.length;
  }
}
