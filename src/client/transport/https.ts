import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Dispatcher } from 'undici';
import { timerLength } from '../clock.ts';
import { initialConcurrency } from '../limits.ts';
import { createDispatcher } from './connections.ts';
import { maxInterimAnswers } from './interim-answers.ts';
import { toTransportError } from './network-errors.ts';
import { type HttpResponse, type Transport, TransportError, type TransportOptions } from './transport.ts';
import { loadUndici, userAgent } from './undici.ts';

/** Makes a transport over HTTPS. It has its own connections, which the first request opens. */
export function httpsTransport(options: TransportOptions): Transport {
  const { server = 'the service', refuseCloseDelimited } = options;
  const sockets = new Set<Socket>();
  let dispatcher: Dispatcher | undefined;

  return {
    async send({ url, headers, timeout }, signal) {
      // undici's timeouts only end silence, so a signal limits the whole time of an answer that trickles in.
      const controller = new AbortController();
      const end = (kind: TransportError['kind'], reason: string) =>
        controller.abort(new TransportError(kind, reason));
      const lateness = `no complete answer within ${Math.round(timeout) / 1000} s`;
      const timer = setTimeout(() => end('timeout', lateness), timerLength(timeout));
      let interimAnswers = 0;
      try {
        dispatcher ??= createDispatcher(options, sockets);
        const response = await loadUndici().request(url, {
          dispatcher,
          signal: AbortSignal.any([signal, controller.signal]),
          headers: { ...headers, 'accept-encoding': 'identity', 'user-agent': userAgent },
          onInfo() {
            interimAnswers += 1;
            if (interimAnswers <= maxInterimAnswers) return;
            end('network', `${server} sent more than ${maxInterimAnswers} interim answers (1xx)`);
          },
        });
        const body = await response.body.bytes();
        if (refuseCloseDelimited && response.statusCode === 200 && isCloseDelimited(response)) {
          throw new TransportError('network', `${server} did not say where its answer ends`);
        }
        return toHttpResponse(response, body);
      } catch (error) {
        signal.throwIfAborted();
        controller.signal.throwIfAborted();
        throw error instanceof TransportError ? error : toTransportError(error, options.limits, server);
      } finally {
        clearTimeout(timer);
      }
    },

    get capacity() {
      const areMultiplexed = [...sockets].every((socket) => (socket as TLSSocket).alpnProtocol === 'h2');
      return areMultiplexed ? Infinity : initialConcurrency;
    },

    async close() {
      // Sockets are closed first: the dispatcher would raise an error on each HTTP/2 stream that it closes.
      await Promise.all(Array.from(sockets, closeSocket));
      try {
        await dispatcher?.destroy();
      } catch {
        // The connections are closed already, so nothing depends on the dispatcher.
      }
    },
  };
}

/** The value of a header; the first value if it was sent several times. */
const firstHeader = (headers: Dispatcher.ResponseData['headers'], name: string) => [headers[name]].flat()[0];

/** Whether the body ends with the connection, without a length or chunks (RFC 9112, section 6.3). */
function isCloseDelimited({ headers }: Dispatcher.ResponseData): boolean {
  if (firstHeader(headers, 'content-length')) return false;
  return !/chunked$/i.test(firstHeader(headers, 'transfer-encoding') ?? '');
}

const toHttpResponse = (
  { statusCode, headers }: Dispatcher.ResponseData,
  body: Uint8Array,
): HttpResponse => ({
  status: statusCode,
  contentType: firstHeader(headers, 'content-type') ?? '',
  retryAfter: firstHeader(headers, 'retry-after'),
  date: firstHeader(headers, 'date'),
  etag: firstHeader(headers, 'etag'),
  lastModified: firstHeader(headers, 'last-modified'),
  body,
});

const closeSocket = (socket: Socket) => new Promise((resolve) => socket.destroy().once('close', resolve));
