/**
 * What someone who waits for the client would want to know while it works.
 *
 * - `held`: the service asked (`Retry-After`) that nothing be sent for so many milliseconds.
 * - `failing`: so many requests to this origin fail that it is asked only now and then.
 * - `recovered`: it answers again.
 * - `render-given-up`: variant B failed for several snippets in a row; variant A is asked from now on.
 */
export type Notice =
  | { kind: 'held'; origin: string; milliseconds: number }
  | { kind: 'failing'; origin: string }
  | { kind: 'recovered'; origin: string }
  | { kind: 'render-given-up' };
