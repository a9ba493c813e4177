import { timerLength } from '../clock.ts';
import { type HttpRequest, type HttpResponse, TransportError, type TransportOptions } from './transport.ts';

/** Returns the first value of a header. */
export type HeaderReader = (name: string) => string | undefined;

/** One request and its answer, in all that transports treat alike: headers, the time limit, and how it ends. */
export class Exchange {
  /** Aborted to end the request, with the error that its caller gets. */
  readonly signal: AbortSignal;
  readonly headers: Record<string, string>;
  /** The name of the server in messages. */
  readonly server: string;
  readonly #refuseCloseDelimited: boolean | undefined;
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;

  /** @param signals end the request, too, with their own reasons. */
  constructor(
    { headers, timeout }: HttpRequest,
    { server = 'the service', refuseCloseDelimited }: TransportOptions,
    signals: readonly AbortSignal[],
  ) {
    this.signal = AbortSignal.any([...signals, this.#controller.signal]);
    this.headers = { ...headers, ...requestHeaders };
    this.server = server;
    this.#refuseCloseDelimited = refuseCloseDelimited;
    const endLate = () => {
      this.end(new TransportError('timeout', `no complete answer within ${Math.round(timeout) / 1000} s`));
    };
    this.#timer = setTimeout(endLate, timerLength(timeout));
  }

  /** Ends the request early. */
  end(error: TransportError): void {
    this.#controller.abort(error);
  }

  /** Makes the answer, to the last byte. @throws TransportError if it may be cut off, and that is refused. */
  toResponse(status: number, header: HeaderReader, body: Uint8Array): HttpResponse {
    if (this.#refuseCloseDelimited && status === 200 && isCloseDelimited(header)) {
      throw new TransportError('network', `${this.server} did not say where its answer ends`);
    }
    return {
      status,
      contentType: header('content-type') ?? '',
      retryAfter: header('retry-after'),
      date: header('date'),
      etag: header('etag'),
      lastModified: header('last-modified'),
      body,
    };
  }

  /** Ends the time limit: the request has ended. */
  close(): void {
    clearTimeout(this.#timer);
  }
}

/** The headers that every transport adds: content is small, and what is compressed could be a bomb. */
export const requestHeaders = { 'accept-encoding': 'identity', 'user-agent': 'astro-snippets' } as const;

/** Whether a body ends with its connection, without a length or chunks (RFC 9112, section 6.3). */
function isCloseDelimited(header: HeaderReader): boolean {
  if (header('content-length')) return false;
  return !/chunked$/i.test(header('transfer-encoding') ?? '');
}
