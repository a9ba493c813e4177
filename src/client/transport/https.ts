import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Dispatcher } from 'undici';
import { timerLength } from '../clock.ts';
import { firstPace } from '../limits.ts';
import { createDispatcher } from './connections.ts';
import { toTransportError } from './network-errors.ts';
import { type Transport, TransportError, type TransportOptions } from './transport.ts';
import { loadUndici, userAgent } from './undici.ts';

/** HTTPS with its own connections, opened by the first request. */
export function httpsTransport(options: TransportOptions): Transport {
  const { server = 'the service', needsEnd } = options;
  const sockets = new Set<Socket>();
  let dispatcher: Dispatcher | undefined;
  return {
    async send({ url, headers, milliseconds }, signal) {
      const timeout = new AbortController();
      const timer = setTimeout(() => timeout.abort(), timerLength(milliseconds));
      try {
        dispatcher ??= createDispatcher(options, sockets);
        const response = await loadUndici().request(url, {
          dispatcher,
          signal: AbortSignal.any([signal, timeout.signal]),
          headers: { ...headers, 'accept-encoding': 'identity', 'user-agent': userAgent },
        });
        const body = await response.body.bytes();
        const { statusCode: status } = response;
        const header = (name: string) => [response.headers[name]].flat()[0];
        const saysItsEnd = header('content-length') || /chunked$/i.test(header('transfer-encoding') ?? '');
        if (needsEnd && status === 200 && !saysItsEnd) {
          throw new TransportError('network', `${server} did not say where its answer ends`);
        }
        const contentType = header('content-type') ?? '';
        return { status, contentType, retryAfter: header('retry-after'), etag: header('etag'), body };
      } catch (error) {
        signal.throwIfAborted();
        if (timeout.signal.aborted) {
          throw new TransportError(
            'timeout',
            `no complete answer within ${Math.round(milliseconds) / 1000} s`,
          );
        }
        throw error instanceof TransportError ? error : toTransportError(error, options.limits, server);
      } finally {
        clearTimeout(timer);
      }
    },
    get capacity() {
      const areMultiplexed = [...sockets].every((socket) => (socket as TLSSocket).alpnProtocol === 'h2');
      return areMultiplexed ? Infinity : firstPace;
    },
    async close() {
      // First: destroying the dispatcher alone hands an error to each closing HTTP/2 stream.
      const close = (socket: Socket) => new Promise((resolve) => socket.destroy().once('close', resolve));
      await Promise.all(Array.from(sockets, close));
      try {
        await dispatcher?.destroy();
      } catch {
        // Nothing depends on it.
      }
    },
  };
}
