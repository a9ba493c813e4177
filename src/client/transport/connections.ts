import type { Socket } from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import type { Agent, buildConnector, Dispatcher, Pool } from 'undici';
import { certificateFlaw } from '../certificates.ts';
import { timerLength } from '../clock.ts';
import { initialConcurrency } from '../limits.ts';
import { findProxy } from './environment.ts';
import { acceptContinue } from './interim-answers.ts';
import { TransportError, type TransportOptions } from './transport.ts';
import { undici } from './undici.ts';

/** Exported from here as all that needs undici is loaded together. */
export { undici };

/**
 * Makes undici's dispatcher, which opens and keeps connections: TLS that is always verified, HTTP/2 if the
 * server has it, and the proxy that the environment names.
 *
 * @param sockets a set that from then on holds the sockets that are open.
 * @throws TransportError `invalid-options` if the environment names no usable proxy, or `ca` has no usable certificate.
 */
export function createDispatcher(options: TransportOptions, sockets: Set<Socket>): Dispatcher {
  const { ca, concurrency, limits, refuseCloseDelimited } = options;
  const idleTimeout = timerLength(limits.idleTimeout);
  const connectTimeout = timerLength(limits.connectTimeout);
  const allowH2 = !refuseCloseDelimited;
  const tlsOptions = verifiedTls(ca);

  const agentOptions: Agent.Options = {
    connections: Math.min(concurrency, initialConcurrency),
    pipelining: 1,
    allowH2,
    // Twice what is needed: a stream that has just ended must not force the next request to a new connection.
    h2Options: { maxConcurrentStreams: 2 * concurrency },
    headersTimeout: idleTimeout,
    bodyTimeout: idleTimeout,
    maxResponseSize: limits.bodyBytes,
    connect: undici.buildConnector({ timeout: connectTimeout, ...tlsOptions, allowH2, preferH2: true }),
    // Sockets are handled here, not in `connect` above: undici replaces that connector for tunnels of a proxy.
    factory(origin, { connect, ...poolOptions }: Pool.Options) {
      const connector = withSockets(connect as buildConnector.connector, sockets);
      return new undici.Pool(origin, { ...poolOptions, connect: connector });
    },
  };

  const proxy = findProxy();
  if (!proxy) return new undici.Agent(agentOptions);
  try {
    return new undici.EnvHttpProxyAgent({
      ...agentOptions,
      httpsProxy: proxy.url,
      // No request uses plain HTTP, so an empty text keeps undici from reading HTTP_PROXY for it.
      httpProxy: '',
      connectTimeout,
      requestTls: { ...tlsOptions, allowH2, preferH2: true },
      // A proxy that is reached over HTTPS often has a certificate of the same authority.
      proxyTls: tlsOptions,
    });
  } catch {
    // The message does not show the variable's value, which may contain a password.
    throw new TransportError(
      'invalid-options',
      `the environment variable ${proxy.name} is not the URL of a proxy, such as http://proxy.example:3128`,
    );
  }
}

/** The TLS options of all connections: to the service, to hosts of images, and to a proxy. */
function verifiedTls(ca: TransportOptions['ca']) {
  // An explicit `true` wins over NODE_TLS_REJECT_UNAUTHORIZED=0.
  const tlsOptions = { rejectUnauthorized: true };
  if (ca === undefined) return tlsOptions;
  const flaw = [ca].flat().map(certificateFlaw).find(Boolean);
  if (flaw !== undefined) throw new TransportError('invalid-options', `the option ca ${flaw}`);
  // The option `ca` of TLS would replace Node's root certificates, so both are passed. All connections share
  // one context, since parsing all roots takes longer than a handshake.
  const allAuthorities = [...tls.getCACertificates('default'), ca].flat();
  return { ...tlsOptions, secureContext: tls.createSecureContext({ ca: allAuthorities }) };
}

/** Wraps a connector, so that `sockets` holds each socket as long as it is open, and 100 Continue is accepted. */
function withSockets(connect: buildConnector.connector, sockets: Set<Socket>): buildConnector.connector {
  return (target, callback) =>
    connect(target, (...result) => {
      const [, socket] = result;
      // After an error, `socket` is `undefined`, although undici's type says `null`.
      if (socket) {
        sockets.add(socket.once('close', () => sockets.delete(socket)));
        if ((socket as TLSSocket).alpnProtocol !== 'h2') acceptContinue(socket);
      }
      callback(...result);
    });
}
