/** The client's own limits: the specification has none (section 8). Times are in milliseconds. */
export const defaultLimits = {
  /**
   * Requests for one snippet, to both variants; by default up to 60 where so many fail that it may be chance. Requests
   * while nothing is answered (`patience`) do not count. @default 5
   */
  attempts: 5,
  /** One request, from connecting to the last byte of its body. @default 15_000 */
  attemptTimeout: 15_000,
  /**
   * Requests for one snippet and pauses between them, without waits for its turn, or for a service that asks to wait or gives
   * no answer. @default 120_000
   */
  deadline: 120_000,
  /** The longest `Retry-After` to wait for. Beyond it, a snippet fails at once. @default 60_000 */
  retryAfter: 60_000,
  mostAttempts: 60,
  /** Snippets in a row from variant A alone, before variant B is given up. */
  fallbacksInARow: 5,
  connectTimeout: 5_000,
  /** Before the headers of an answer, or between two chunks of its body. */
  idleTimeout: 10_000,
  bodyBytes: 2_097_152,
  /** In characters. */
  urlLength: 8_000,
  retryBase: 250,
  /** The longest pause between attempts: while other snippets arrive, and while none does. */
  retryCap: 2_000,
  outageCap: 8_000,
  /** First attempts that fail in a row before a variant may count as down. */
  downAfter: 5,
};

export type Limits = Readonly<typeof defaultLimits>;

export const publicLimits = ['attempts', 'attemptTimeout', 'deadline', 'retryAfter'] as const;

/** How long a client tries to fetch one snippet. Times are in milliseconds. */
export type PublicLimits = Pick<Limits, (typeof publicLimits)[number]>;

/** Requests at once at first, and the most connections: many servers refuse more. */
export const firstPace = 20;

/** How long to try a service that gives no answer, in milliseconds. */
export const defaultPatience = 60_000;

/** Where the port refuses or the name does not resolve, before the first answer. */
export const patienceWhereUnreachable = 30_000;

/** `attempts` alone sets `mostAttempts`, too. */
export function withDefaults(limits: Partial<Limits> = {}): Limits {
  const { attempts, mostAttempts = attempts ?? defaultLimits.mostAttempts } = limits;
  return { ...defaultLimits, ...limits, mostAttempts };
}
