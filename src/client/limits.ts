/**
 * How long and how much the client accepts. Times are in milliseconds, sizes in bytes.
 *
 * The specification states no limits (section 8); these are the client's own.
 */
export interface Limits {
  /** Requests for one snippet, both variants together. @default 5 */
  attempts: number;
  /** Failed attempts at variant B before variant A is asked. @default 2 */
  renderAttempts: number;
  /** Snippets in a row that fell back to variant A before variant B is given up. @default 5 */
  fallbacksInARow: number;
  /** One request, from connecting to the last byte of its body. @default 15_000 */
  attemptTimeout: number;
  /** Opening a connection, including TLS. @default 5_000 */
  connectTimeout: number;
  /** Silence before the headers of an answer, or between two chunks of its body. @default 10_000 */
  idleTimeout: number;
  /** One snippet, including all its attempts and waits. @default 120_000 */
  deadline: number;
  /** The largest body accepted. @default 2_097_152 */
  bodyBytes: number;
  /** The longest URL requested, in characters. @default 8_000 */
  urlLength: number;
  /** The longest `Retry-After` to wait for. Beyond it, a snippet fails at once. @default 60_000 */
  retryAfter: number;
  /** The base of the exponential backoff. @default 250 */
  retryBase: number;
  /** The longest wait between two attempts. @default 8_000 */
  retryCap: number;
  /** How many of the last attempts at an origin the breaker counts. @default 50 */
  breakerWindow: number;
  /** How many attempts the breaker needs before it can open. @default 20 */
  breakerMinimum: number;
  /** The time between two probes of an origin with an open breaker. @default 15_000 */
  breakerProbe: number;
  /** How long an origin may go without a success before its snippets fail. @default 90_000 */
  breakerPatience: number;
}

export const defaultLimits: Readonly<Limits> = {
  attempts: 5,
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
  retryCap: 8_000,
  breakerWindow: 50,
  breakerMinimum: 20,
  breakerProbe: 15_000,
  breakerPatience: 90_000,
};
