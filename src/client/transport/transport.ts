import type { Limits } from '../limits.ts';

/** A GET request. */
export interface HttpRequest {
  url: string;
  headers: Record<string, string>;
  /** The most that the request may take, from connecting to the last byte of the body. In milliseconds. */
  timeout: number;
}

/** A complete answer, to the last byte. If a header was sent several times, this is its first value. */
export interface HttpResponse {
  status: number;
  /** The header `Content-Type`; empty if there is none. */
  contentType: string;
  retryAfter: string | undefined;
  /** When the answer was sent, by the clock of the server: the header `Date`. */
  date?: string | undefined;
  etag?: string | undefined;
  lastModified?: string | undefined;
  body: Uint8Array;
}

/** Why there is no complete answer. The message may come from Node or undici: clean it before showing it. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly kind: 'network' | 'timeout' | 'certificate' | 'too-large' | 'invalid-options';
  /** Whether no server could be reached: the port refuses, or the host name does not resolve. */
  readonly isUnreachable: boolean;

  constructor(kind: TransportError['kind'], reason: string, isUnreachable = false) {
    super(reason);
    this.kind = kind;
    this.isUnreachable = isUnreachable;
  }
}

/** Whether a transport threw an error to say why there is no answer. A bundle may have the class twice: its name counts. */
export const isTransportError = (error: unknown): error is TransportError =>
  error instanceof Error && error.name === 'TransportError';

/** The part of a client that sends requests over the network. Tests replace it with a simulated service. */
export interface Transport {
  /**
   * Makes one GET request and reads its whole body. Redirects are not followed.
   *
   * @throws TransportError, or the reason of `signal`. Any other error is one of code, not of the network.
   */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse>;
  /** How many requests can be under way at once: 20 over HTTP/1.1, any number over HTTP/2. */
  readonly capacity: number;
  /**
   * Whether no call may wait for what another has begun. A worker of Cloudflare ends timers and connections with the
   * page that began them, and whoever waits for them then waits for ever.
   */
  readonly isolatesCalls?: boolean;
  /** Closes the connections. Requests in progress fail. */
  close(): Promise<void>;
}

export interface TransportOptions {
  /** Certificates (PEM) of authorities to trust in addition to Node's. */
  ca: string | readonly string[] | undefined;
  /** The most requests that are made at once. */
  concurrency: number;
  limits: Limits;
  /** The name of the server in messages. @default 'the service' */
  server?: string;
  /**
   * Whether to fail for an answer of status 200 that ends with its connection, and so may be cut off. Makes
   * all requests over HTTP/1.1, where headers show how an answer ends. @default false
   */
  refuseCloseDelimited?: boolean;
}
