import type { Socket } from 'node:net';
import tls from 'node:tls';
import type { Agent, buildConnector, EnvHttpProxyAgent, Pool } from 'undici';
import { timerLength } from '../clock.ts';
import { firstPace } from '../limits.ts';
import type { TransportOptions } from './transport.ts';
import { TransportError } from './transport.ts';
import { loadUndici } from './undici.ts';

export function createDispatcher(
  { ca, concurrency, limits, needsEnd }: TransportOptions,
  sockets: Set<Socket>,
): Agent | EnvHttpProxyAgent {
  const { Agent, EnvHttpProxyAgent, Pool, buildConnector } = loadUndici();
  const idleTimeout = timerLength(limits.idleTimeout);
  const connectTimeout = timerLength(limits.connectTimeout);
  const allowH2 = !needsEnd;
  const verified = {
    allowH2,
    preferH2: true,
    // Or NODE_TLS_REJECT_UNAUTHORIZED=0 would turn it off.
    rejectUnauthorized: true,
    // `ca` alone would replace Node's roots. One context for all: parsing them takes longer than a handshake.
    ...(ca && {
      secureContext: tls.createSecureContext({ ca: [...tls.getCACertificates('default'), ca].flat() }),
    }),
  };
  const options: Agent.Options = {
    connections: Math.min(concurrency, firstPace),
    pipelining: 1,
    allowH2,
    // Twice as many: one that has just ended must not make the next open a connection.
    h2Options: { maxConcurrentStreams: 2 * concurrency },
    headersTimeout: idleTimeout,
    bodyTimeout: idleTimeout,
    maxResponseSize: limits.bodyBytes,
    connect: buildConnector({ timeout: connectTimeout, ...verified }),
    // Here, as undici makes a proxy's tunnels with its own connector.
    factory(origin, { connect, ...others }: Pool.Options) {
      const open = connect as buildConnector.connector;
      const remember: buildConnector.connector = (target, callback) =>
        open(target, (...result) => {
          const [, socket] = result;
          // After an error, there is no second argument.
          if (socket) sockets.add(socket.once('close', () => sockets.delete(socket)));
          callback(...result);
        });
      return new Pool(origin, { ...others, connect: remember });
    },
  };
  const proxy = proxyVariable();
  if (!proxy) return new Agent(options);
  try {
    return new EnvHttpProxyAgent({
      ...options,
      httpsProxy: proxy.url,
      // Or undici reads it from the environment. No request uses HTTP.
      httpProxy: '',
      connectTimeout,
      requestTls: verified,
      proxyTls: { rejectUnauthorized: true },
    });
  } catch {
    // Its value may contain a password.
    throw new TransportError(
      'invalid-options',
      `the environment variable ${proxy.name} is not the URL of a proxy, such as http://proxy.example:3128`,
    );
  }
}

/** Of undici's variables. The scheme may be missing, as with curl. */
function proxyVariable() {
  for (const protocol of ['https', 'http']) {
    const names = [`${protocol}_proxy`, `${protocol.toUpperCase()}_PROXY`];
    const name = names.find((one) => process.env[one] !== undefined) ?? '';
    const value = process.env[name]?.trim();
    if (value) return { name, url: /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}` };
  }
  return undefined;
}
