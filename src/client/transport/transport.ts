import type { Limits } from '../limits.ts';

export interface HttpResponse {
  status: number;
  contentType: string;
  retryAfter: string | undefined;
  etag?: string | undefined;
  body: Uint8Array;
}

/** Why there is no whole answer. Its message is not clean. */
export class TransportError extends Error {
  override readonly name = 'NoAnswer';
  readonly kind: 'network' | 'timeout' | 'certificate' | 'too-large' | 'invalid-options';
  /** Whether the port refuses, or the name does not resolve. */
  readonly isUnreachable: boolean;

  constructor(kind: TransportError['kind'], reason: string, isUnreachable = false) {
    super(reason);
    this.kind = kind;
    this.isUnreachable = isUnreachable;
  }
}

/** Tests pass a simulated one. */
export interface Transport {
  /** Makes one GET request. @throws NoAnswer, or the reason of `signal`. */
  send(
    request: { url: string; headers: Record<string, string>; milliseconds: number },
    signal: AbortSignal,
  ): Promise<HttpResponse>;
  /** In requests at once. */
  readonly capacity: number;
  close(): Promise<void>;
}

export interface TransportOptions {
  ca: string | readonly string[] | undefined;
  concurrency: number;
  limits: Limits;
  /** What messages call it. @default 'the service' */
  server?: string;
  /** Whether to refuse an answer that ends with its connection, maybe cut off. Makes requests over HTTP/1.1. */
  needsEnd?: boolean;
}
