/**
 * What happens while the client works. Times are in milliseconds; `until` since the epoch.
 *
 * - `held`: the service asked for a pause (`Retry-After`).
 * - `failing`: nothing arrives from this origin, and why. It is tried until then, for `patience` in all.
 * - `recovered`: it responds again.
 * - `render-given-up`: rendering failed for several snippets in a row, so the rest are retrieved. `isRouteMissing` if it has
 *   no route for any of them, as where its base URL is wrong.
 */
export type Notice =
  | { kind: 'held'; origin: string; milliseconds: number }
  | { kind: 'failing'; origin: string; reason: string; until: number; patience: number }
  | { kind: 'recovered'; origin: string }
  | { kind: 'render-given-up'; isRouteMissing: boolean };

export interface Counts {
  /** HTTP requests, with retries. */
  requests: number;
  /** Requests that repeated one to the same variant. */
  retries: number;
  /** Snippets that fell back from variant B to variant A. */
  fallbacks: number;
}
