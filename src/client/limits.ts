/** How long a client tries to fetch a snippet, in milliseconds. The specification is silent (section 8). */
export interface PublicLimits {
  /**
   * Requests for one snippet, both variants together, before it is given up. By default, there are up to 60
   * where so many fail that it may be chance. Those while the service gives no answer do not count.
   * @default 5
   */
  readonly attempts: number;
  /** The time for one request, from connecting to the last byte of its body. @default 15_000 */
  readonly attemptTimeout: number;
  /**
   * The time for all requests for one snippet and the pauses between them. Waiting for its turn does not
   * count, nor for a service that asks to wait or gives no answer. Also the longest wait for the next
   * snippet, for whatever reasons: then all that are missing fail. Requests that fail while the service answers
   * others do not count, unless it asks to wait. @default 120_000
   */
  readonly deadline: number;
  /** The longest `Retry-After` to wait for. Beyond it, a snippet fails at once. @default 60_000 */
  readonly retryAfter: number;
}

/** The names of the limits that users may set: the keys of {@link PublicLimits}. */
export const publicLimits = ['attempts', 'attemptTimeout', 'deadline', 'retryAfter'] as const;

/** All limits of a client. Times are in milliseconds. */
export interface Limits extends PublicLimits {
  /** The most requests for one snippet. Requests made while the service gives no answer do not count. */
  readonly mostAttempts: number;
  /** How many snippets in a row may fall back from variant B to A before variant A is asked first. */
  readonly fallbacksInARow: number;
  /** The time for opening a connection, TLS included. */
  readonly connectTimeout: number;
  /** The longest silence before the headers of an answer, or between two chunks of its body. */
  readonly idleTimeout: number;
  /** The longest body that is read, in bytes. */
  readonly bodyBytes: number;
  /** The longest URL that is requested, in characters. */
  readonly urlLength: number;
  /** The first pause before a retry. Each further pause is twice as long, up to the caps below. */
  readonly retryBase: number;
  /** The longest pause between two requests for a snippet while other snippets arrive. */
  readonly retryCap: number;
  /** The longest pause between two requests for a snippet, or two probes, while nothing arrives. */
  readonly outageCap: number;
  /** How many snippets in a row have to fail at their first request before a variant may count as down. */
  readonly downAfter: number;
}

export const defaultLimits: Limits = {
  attempts: 5,
  attemptTimeout: 15_000,
  deadline: 120_000,
  retryAfter: 60_000,
  mostAttempts: 60,
  fallbacksInARow: 5,
  connectTimeout: 5_000,
  idleTimeout: 10_000,
  bodyBytes: 2_097_152,
  urlLength: 8_000,
  retryBase: 250,
  retryCap: 2_000,
  outageCap: 8_000,
  downAfter: 5,
};

/** Adds the defaults. If a user sets `attempts`, it is the most as well, in place of the default of 60. */
export function withDefaults(limits: Partial<Limits> = {}): Limits {
  const { attempts, mostAttempts = attempts ?? defaultLimits.mostAttempts } = limits;
  return { ...defaultLimits, ...limits, mostAttempts };
}

/**
 * How many requests a client makes at once before it knows what the service keeps up with. HTTP/1.1 never
 * gets more connections: many servers refuse more from one client.
 */
export const initialConcurrency = 20;

/** The default of `patience`: how long a service that gives no answer is tried, in milliseconds. */
export const defaultPatience = 60_000;

/** The most patience, in milliseconds, with a service that is unreachable and has never answered. */
export const patienceWhereUnreachable = 30_000;
