import { subscribe } from 'node:diagnostics_channel';
import type { Http2Session, Http2Stream } from 'node:http2';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import type { Agent, buildConnector, Dispatcher, Pool } from 'undici';
import { timerLength } from './clock.ts';
import { firstPace, type Limits } from './limits.ts';
import { reasonOf } from './text.ts';

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

interface TransportOptions {
  ca: string | readonly string[] | undefined;
  concurrency: number;
  limits: Limits;
  /** What messages call it. @default 'the service' */
  server?: string;
  /** Whether to refuse an answer that ends with its connection, maybe cut off. Makes requests over HTTP/1.1. */
  needsEnd?: boolean;
}

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

// Node's codes for invalid certificates. UNSPECIFIED may be a weak signature.
const certificateError =
  /^(?:ERR_TLS_CERT|(?!ERR_).*(?:_CERT|CERT_|_CRL|CRL_|ISSUER|SIGNATURE))|^(?:HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|UNSPECIFIED)$/;

const unreachableCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

function toTransportError(error: unknown, limits: Limits, server: string) {
  const causes = innermost(error);
  const { code = '', message } = causes[0] as ErrorCause;
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    return new TransportError('too-large', `the answer is longer than ${limits.bodyBytes} bytes`);
  }
  if (code === 'UND_ERR_CONNECT_TIMEOUT') {
    return new TransportError('timeout', `no connection within ${limits.connectTimeout / 1000} s`);
  }
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return new TransportError('timeout', `${server} sent nothing for ${limits.idleTimeout / 1000} s`);
  }
  if (certificateError.test(code)) return new TransportError('certificate', `${message} (${code})`);
  const reason = code === '' || message.includes(code) ? message : `${message} (${code})`;
  const isUnreachable = causes.every(({ code = '' }) => unreachableCodes.has(code));
  return new TransportError('network', reason, isUnreachable);
}

type ErrorCause = Pick<NodeJS.ErrnoException, 'code' | 'message'>;

/** One cause for each IP address that was tried. */
function innermost(error: unknown): ErrorCause[] {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.flatMap(innermost);
  if (!(error instanceof Error)) return [{ message: reasonOf(error) }];
  return error.cause === undefined ? [error] : innermost(error.cause);
}

function createDispatcher({ ca, concurrency, limits, needsEnd }: TransportOptions, sockets: Set<Socket>) {
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

// Where the `fetch` of Node 22 and 24 looks up its dispatcher.
const builtInDispatcher = Symbol.for('undici.globalDispatcher.1');

let undici: typeof import('undici') | undefined;

const userAgent = 'astro-snippets';

/**
 * Node makes a new HTTP/2 stream of a late answer to an aborted request. If the connection ends while Vite blocks the event
 * loop, its error would end the process.
 */
function ignoreErrorsOfLateAnswers() {
  const sessions = new WeakSet<Http2Session>();
  subscribe('http2.client.stream.created', (message) => {
    const { stream, headers } = message as { stream: Http2Stream; headers: Record<string, unknown> };
    const { session } = stream;
    if (!session) return;
    if (headers['user-agent'] === userAgent) sessions.add(session);
    else if (sessions.has(session)) stream.on('error', () => {});
  });
}

/**
 * Takes time. undici makes itself the dispatcher of the built-in `fetch`, which other code uses and which gets its own back.
 * In Node 26, undici leaves an initialized `fetch` alone.
 */
export function loadUndici() {
  if (undici) return undici;
  if (Number.parseInt(process.versions.node, 10) >= 26) void globalThis.Response;
  const globals = globalThis as { [builtInDispatcher]?: unknown };
  const before = globals[builtInDispatcher];
  undici = createRequire(import.meta.url)('undici') as typeof import('undici');
  ignoreErrorsOfLateAnswers();
  if (globals[builtInDispatcher] !== before) globals[builtInDispatcher] = before;
  return undici;
}
