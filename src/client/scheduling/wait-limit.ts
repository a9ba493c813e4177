import type { Limits } from '../limits.ts';

/** How late a timer may be, in milliseconds, before something must have blocked the event loop. */
const usualLateness = 1_000;

/**
 * Limits how long a run waits for the next answer, for whatever reasons: the limit `deadline` ends the wait.
 *
 * The wait starts when a snippet is asked for, and starts anew with each answer. These times are no part of it:
 *
 * - times in which nothing is asked for. A wait that goes on after such a time is still the same wait, unless
 *   that time was as long as the limit;
 * - times of requests that fail while the service answers others, as it is at work then.
 *
 * There is always time left for one request after a pause, or after something has blocked the event loop.
 *
 * All times are in milliseconds since the epoch.
 */
export class WaitLimit {
  readonly #limits: Limits;
  /** When the wait started, later by all the times that are no part of it. */
  #startedAt = -Infinity;
  /** Up to when requests were taken out of the wait. */
  #excludedUntil = -Infinity;
  /** When the last snippet that was asked for arrived or failed. */
  #idleSince = -Infinity;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** When the wait ends, if there is no answer. */
  get endsAt(): number {
    return this.#startedAt + this.#limits.deadline;
  }

  /** Notes that a snippet is asked for, and none was before: the wait starts, or goes on. */
  resume(now: number): void {
    const idle = now - this.#idleSince;
    if (idle >= this.#limits.deadline) {
      this.#startedAt = now;
      return;
    }
    this.#startedAt += idle;
    // After a wait that was too long, later snippets still get one request: the service may be back.
    this.#allowRequest(now);
  }

  /** Notes that nothing is asked for any more. */
  pause(now: number): void {
    this.#idleSince = now;
  }

  /** Notes an answer: the wait starts anew. */
  restart(now: number): void {
    this.#startedAt = now;
    this.#excludedUntil = now;
  }

  /** Takes the time of a request out of the wait. Requests overlap, and each moment counts once. */
  exclude(startedAt: number, now: number): void {
    const time = now - Math.max(startedAt, this.#excludedUntil);
    // The wait may have got time for a request that was late, so the same time would count twice.
    this.#startedAt = Math.min(this.#startedAt + time, now);
    this.#excludedUntil = now;
  }

  /**
   * Keeps the wait from ending at once after Vite has blocked the event loop, so that no answer could arrive.
   *
   * @param dueAt when that which happens now was due at the latest.
   */
  noteLateness(dueAt: number, now: number): void {
    if (now > dueAt + usualLateness) this.#allowRequest(now);
  }

  /** Makes sure that there is time for a request before the wait ends. */
  #allowRequest(now: number) {
    const { deadline, attemptTimeout } = this.#limits;
    this.#startedAt = Math.max(this.#startedAt, now - Math.max(0, deadline - attemptTimeout));
  }
}
