import type { Limits } from './limits.ts';

type BreakerLimits = Pick<Limits, 'breakerWindow' | 'breakerMinimum' | 'breakerProbe' | 'breakerPatience'>;

/** Whether a request may be made now, later, or whether waiting has gone on for too long. */
export type Permission = 'go' | { waitUntil: number } | { failingSince: number };

/**
 * Watches the attempts at one origin and keeps a dead service from being asked thousands of times. It opens
 * when half of the last attempts failed; while open, one attempt now and then probes; a success closes it.
 * When nothing has succeeded for too long, everybody who waits is told to give up, but for the probes: a
 * service that comes back is found again by the same client.
 *
 * Knows no clock: every time, in milliseconds, is passed in.
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

  /** Takes the result of an attempt that was made. Says whether this one opened or closed the breaker. */
  record(success: boolean, now: number): 'opened' | 'closed' | undefined {
    const wasOpen = this.isOpen;
    if (success) {
      this.#failingSince = undefined;
      this.#nextProbe = undefined;
      // What was counted before is forgotten: it was another state of the service.
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
