/**
 * How long a client tries to fetch one snippet. Times are in milliseconds.
 *
 * The specification states no limits (section 8); these are the client's own.
 */
export interface PublicLimits {
  /**
   * Requests for one snippet, both variants together, before it is given up. Unless it is set, more, up to 60, if the
   * snippets that arrive have failed so often themselves that these failures may be chance. Requests while the service
   * answers no one (`patience`) do not count. @default 5
   */
  attempts: number;
  /** One request, from connecting to the last byte of its body. @default 15_000 */
  attemptTimeout: number;
  /**
   * The requests for one snippet and the pauses between them. Waiting for its turn does not count, nor for a service
   * that asks to wait or answers no one. @default 120_000
   */
  deadline: number;
  /** The longest `Retry-After` to wait for. Beyond it, a snippet fails at once. @default 60_000 */
  retryAfter: number;
}

/** How long and how much the client accepts. Times are in milliseconds, sizes in bytes. */
export interface Limits extends PublicLimits {
  /** The most requests for one snippet, not counting those while the service answers no one. */
  mostAttempts: number;
  /** Failed attempts at variant B before variant A is asked. */
  renderAttempts: number;
  /** Snippets in a row that variant A answered and variant B did not, before variant B is given up. */
  fallbacksInARow: number;
  /** Opening a connection, including TLS. */
  connectTimeout: number;
  /** Silence before the headers of an answer, or between two chunks of its body. */
  idleTimeout: number;
  /** The largest body accepted. */
  bodyBytes: number;
  /** The longest URL requested, in characters. */
  urlLength: number;
  /** The base of the exponential backoff. */
  retryBase: number;
  /** The longest pause between two attempts while other snippets arrive. */
  retryCap: number;
  /** The longest pause between two attempts, or two witnesses, while nothing arrives. */
  outageCap: number;
  /** Snippets that have to fail in a row, at their first attempt, before a variant counts as down. */
  downAfter: number;
}

export const defaultLimits: Readonly<Limits> = {
  attempts: 5,
  mostAttempts: 60,
  renderAttempts: 2,
  fallbacksInARow: 5,
  attemptTimeout: 15_000,
  connectTimeout: 5_000,
  idleTimeout: 10_000,
  deadline: 120_000,
  bodyBytes: 2 * 1024 * 1024,
  urlLength: 8_000,
  retryAfter: 60_000,
  retryBase: 250,
  retryCap: 2_000,
  outageCap: 8_000,
  downAfter: 5,
};

/**
 * How many requests are made at once before anything is known about the service. It is also how many connections are
 * opened at most: HTTP/1.1 needs one for each request, and many servers refuse more from one client.
 */
export const firstPace = 20;

/** How long a service that answers no one is tried, in milliseconds. */
export const defaultPatience = 60_000;

/** The same, where the port refuses or the name does not resolve, and nothing has answered yet. */
export const patienceWhereUnreachable = 30_000;

/** Adds the defaults. `attempts` alone sets `mostAttempts` too. */
export function withDefaults(limits: Partial<Limits> = {}): Limits {
  const { attempts, mostAttempts = attempts ?? defaultLimits.mostAttempts } = limits;
  return { ...defaultLimits, ...limits, mostAttempts };
}
