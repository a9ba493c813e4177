import type { Socket } from 'node:net';
import tls from 'node:tls';
import type { Agent, buildConnector, Dispatcher, Pool } from 'undici';
import { timerLength } from '../clock.ts';
import { initialConcurrency } from '../limits.ts';
import { TransportError, type TransportOptions } from './transport.ts';
import { loadUndici } from './undici.ts';

/**
 * Makes what opens and keeps the connections of one transport: TLS that is always verified, HTTP/2 where the
 * server has it, and the proxy that the environment names.
 *
 * @param sockets holds the open sockets from then on.
 * @throws TransportError `invalid-options` if the environment names no usable proxy.
 */
export function createDispatcher(options: TransportOptions, sockets: Set<Socket>): Dispatcher {
  const { ca, concurrency, limits, refuseCloseDelimited } = options;
  const { Agent, EnvHttpProxyAgent, Pool, buildConnector } = loadUndici();
  const idleTimeout = timerLength(limits.idleTimeout);
  const connectTimeout = timerLength(limits.connectTimeout);
  const allowH2 = !refuseCloseDelimited;
  const tlsOptions = verifiedTls(ca, allowH2);

  const agentOptions: Agent.Options = {
    connections: Math.min(concurrency, initialConcurrency),
    pipelining: 1,
    allowH2,
    // Twice what is needed: a stream that has just ended must not make the next request open a connection.
    h2Options: { maxConcurrentStreams: 2 * concurrency },
    headersTimeout: idleTimeout,
    bodyTimeout: idleTimeout,
    maxResponseSize: limits.bodyBytes,
    connect: buildConnector({ timeout: connectTimeout, ...tlsOptions }),
    // The pool is the place to see all sockets: for tunnels of a proxy, undici replaces the connector above.
    factory(origin, { connect, ...poolOptions }: Pool.Options) {
      const connector = rememberSockets(connect as buildConnector.connector, sockets);
      return new Pool(origin, { ...poolOptions, connect: connector });
    },
  };

  const proxy = findProxy();
  if (!proxy) return new Agent(agentOptions);
  try {
    return new EnvHttpProxyAgent({
      ...agentOptions,
      httpsProxy: proxy.url,
      // An empty text keeps undici from reading a proxy for HTTP from the environment. No request uses HTTP.
      httpProxy: '',
      connectTimeout,
      requestTls: tlsOptions,
      proxyTls: { rejectUnauthorized: true },
    });
  } catch {
    // The message names the variable alone: its value may contain a password.
    throw new TransportError(
      'invalid-options',
      `the environment variable ${proxy.name} is not the URL of a proxy, such as http://proxy.example:3128`,
    );
  }
}

function verifiedTls(ca: TransportOptions['ca'], allowH2: boolean) {
  // An explicit `true` wins over NODE_TLS_REJECT_UNAUTHORIZED=0.
  const tlsOptions = { allowH2, preferH2: true, rejectUnauthorized: true };
  if (!ca) return tlsOptions;
  // The option `ca` of TLS would replace Node's roots. All connections share one context, since parsing all
  // roots takes longer than a handshake.
  const allAuthorities = [...tls.getCACertificates('default'), ca].flat();
  return { ...tlsOptions, secureContext: tls.createSecureContext({ ca: allAuthorities }) };
}

/** Wraps a connector, so that `sockets` holds each socket as long as it is open. */
function rememberSockets(connect: buildConnector.connector, sockets: Set<Socket>): buildConnector.connector {
  return (target, callback) =>
    connect(target, (...result) => {
      const [, socket] = result;
      // An error comes without a second argument, although undici's type says `null`.
      if (socket) sockets.add(socket.once('close', () => sockets.delete(socket)));
      callback(...result);
    });
}

/** Finds the variable that names a proxy, in undici's order. The scheme may be missing, as with curl. */
function findProxy() {
  for (const protocol of ['https', 'http']) {
    const names = [`${protocol}_proxy`, `${protocol.toUpperCase()}_PROXY`];
    const name = names.find((candidate) => process.env[candidate] !== undefined) ?? '';
    const value = process.env[name]?.trim();
    if (value) return { name, url: /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}` };
  }
  return undefined;
}
