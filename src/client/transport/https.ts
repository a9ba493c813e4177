import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Dispatcher } from 'undici';
import { initialConcurrency } from '../limits.ts';
import { nodeFlaw } from '../node-version.ts';
import { SnippetError } from '../snippet-error.ts';
import { rememberFetch } from './built-in-fetch.ts';
import { Exchange } from './exchange.ts';
import { fetchTransport } from './fetch.ts';
import { maxInterimAnswers } from './interim-answers.ts';
import { isErrorOfCode, toTransportError } from './network-errors.ts';
import { type Transport, TransportError, type TransportOptions } from './transport.ts';

/**
 * Makes a transport over undici, for Node. It has its own connections, which the first request opens. Bun and Deno get
 * a transport over `fetch` if they run what was bundled for Node: their `undici` is another, and may not verify.
 *
 * @throws SnippetError `unsupported-node`
 */
export function httpsTransport(options: TransportOptions): Transport {
  if ('Bun' in globalThis || 'Deno' in globalThis) return fetchTransport(options);
  const flaw = nodeFlaw();
  if (flaw) throw new SnippetError('unsupported-node', flaw);
  const sockets = new Set<Socket>();
  let dispatcher: Dispatcher | undefined;

  return {
    async send(request, signal) {
      // Outside of `try`: a module that is missing is no failure of the network.
      const { createDispatcher, undici } = await loadConnections();
      signal.throwIfAborted();
      dispatcher ??= createDispatcher(options, sockets);

      // undici's timeouts only end silence, so a signal limits the whole time of an answer that trickles in.
      const exchange = new Exchange(request, options, [signal]);
      const { server } = exchange;
      let interimAnswers = 0;
      try {
        const { statusCode, headers, body } = await undici.request(request.url, {
          dispatcher,
          signal: exchange.signal,
          headers: exchange.headers,
          onInfo() {
            interimAnswers += 1;
            if (interimAnswers <= maxInterimAnswers) return;
            const reason = `${server} sent more than ${maxInterimAnswers} interim answers (1xx)`;
            exchange.end(new TransportError('network', reason));
          },
        });
        return exchange.toResponse(statusCode, (name) => firstHeader(headers, name), await body.bytes());
      } catch (error) {
        exchange.signal.throwIfAborted();
        throw isErrorOfCode(error) ? error : toTransportError(error, options.limits, server);
      } finally {
        exchange.close();
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

export { httpsTransport as createTransport, loadConnections as preloadTransport };

type Connections = typeof import('./connections.ts');

let connections: Promise<Connections> | undefined;

/** Loads undici with the first request, since loading takes time. The import is one that bundlers follow. */
function loadConnections(): Promise<Connections> {
  if (!connections) {
    rememberFetch();
    connections = import('./connections.ts');
  }
  return connections;
}

/** The value of a header; the first value if it was sent several times. */
const firstHeader = (headers: Dispatcher.ResponseData['headers'], name: string) => [headers[name]].flat()[0];

const closeSocket = (socket: Socket) => new Promise((resolve) => socket.destroy().once('close', resolve));
