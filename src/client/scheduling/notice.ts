/**
 * News that a client reports while it works, through `onNotice`: what it found out about the service. The
 * specification says nothing of limits or outages (section 8).
 *
 * - `held`: the service asked for a pause of `milliseconds` (`Retry-After`), and the client waits.
 * - `failing`: nothing arrives from this `origin`, and the `reason` of the last failure. The service is tried
 *   until `until` (milliseconds since the epoch), for `patience` milliseconds in all.
 * - `recovered`: the `origin` responds again.
 * - `render-given-up`: rendering failed for several snippets in a row, so the rest are retrieved.
 *   `isRouteMissing` if the service had no route for any of them, as where the base URL is wrong.
 */
export type Notice =
  | { kind: 'held'; origin: string; milliseconds: number }
  | { kind: 'failing'; origin: string; reason: string; until: number; patience: number }
  | { kind: 'recovered'; origin: string }
  | { kind: 'render-given-up'; isRouteMissing: boolean };

/** The number of requests that a client has made so far. */
export interface Counts {
  /** How many HTTP requests were sent, with retries. */
  requests: number;
  /** Requests that repeated a failed request to the same variant. */
  retries: number;
  /** Snippets that fell back from variant B to variant A. */
  fallbacks: number;
}
