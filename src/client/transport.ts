import { subscribe } from 'node:diagnostics_channel';
import type { Http2Session, Http2Stream } from 'node:http2';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { SecureContext, TLSSocket } from 'node:tls';
import type { Agent, buildConnector, Dispatcher, Pool } from 'undici';
import { timerLength } from './clock.ts';
import type { Limits } from './limits.ts';
import { firstPace } from './pace.ts';
import { proxySetting } from './proxy.ts';

/** A complete answer of the service: its body has arrived to the last byte. */
export interface Answer {
  status: number;
  contentType: string;
  retryAfter: string | undefined;
  body: string;
}

/** Why there is no complete answer. The message comes from Node or from this package, and is not cleaned yet. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly kind: 'network' | 'timeout' | 'certificate' | 'too-large' | 'invalid-options';
  /** Whether nothing is there that could answer: its port refuses, or its name does not resolve. */
  readonly isUnreachable: boolean;

  constructor(kind: NoAnswer['kind'], reason: string, isUnreachable = false) {
    super(reason);
    this.kind = kind;
    this.isUnreachable = isUnreachable;
  }
}

export interface HttpRequest {
  url: string;
  authorization: string;
  /** For the whole request, from connecting to the last byte of the body. */
  milliseconds: number;
}

/** What carries requests. Passed in, so that tests can put a simulated service in its place. */
export interface Transport {
  /**
   * Makes one request and reads its whole body. Does not follow redirects or accept compressed bodies.
   *
   * @throws NoAnswer, or the reason of `signal` if the caller aborted.
   */
  send(request: HttpRequest, signal: AbortSignal): Promise<Answer>;
  /** How many requests it carries at once: over HTTP/1.1 as many as connections, over HTTP/2 any number. */
  readonly capacity: number;
  /** Ends what is under way and closes the connections. */
  close(): Promise<void>;
}

/** A GET request of any kind. */
export interface GetRequest extends Pick<HttpRequest, 'url' | 'milliseconds'> {
  headers: Record<string, string>;
}

/** A complete answer with its body as it is. */
export interface RawAnswer {
  status: number;
  /** By their names in lower case. Of a header that is sent several times, the first. */
  header(name: string): string | undefined;
  bytes: Uint8Array;
}

/** Connections that share nothing with the rest of the process. */
export interface Connections {
  /**
   * Makes one request and reads its whole body. Does not follow redirects or accept compressed bodies.
   *
   * @throws NoAnswer, or the reason of `signal` if the caller aborted.
   */
  get(request: GetRequest, signal: AbortSignal): Promise<RawAnswer>;
  /** As of a {@link Transport}. */
  readonly capacity: number;
  /** Ends what is under way and closes the connections. */
  close(): Promise<void>;
}

/** HTTPS with connections of the client's own, opened on the first request. */
export function httpsTransport(options: TransportOptions): Transport {
  const connections = openConnections(options);
  return {
    async send({ url, authorization, milliseconds }, signal) {
      const headers = { authorization, accept: 'application/json, application/problem+json' };
      const { status, header, bytes } = await connections.get({ url, headers, milliseconds }, signal);
      return {
        status,
        contentType: header('content-type') ?? '',
        retryAfter: header('retry-after'),
        body: decode(bytes),
      };
    },
    get capacity() {
      return connections.capacity;
    },
    close: () => connections.close(),
  };
}

/** Opens connections on the first request. */
export function openConnections(options: TransportOptions): Connections {
  let dispatcher: Promise<Dispatcher> | undefined;
  const sockets = new Set<Socket>();
  return {
    async get(request, signal) {
      dispatcher ??= createDispatcher(options, sockets);
      return sendRequest(request, await dispatcher, options, signal);
    },
    get capacity() {
      for (const socket of sockets) if (!isMultiplexed(socket)) return firstPace;
      return Number.POSITIVE_INFINITY;
    },
    async close() {
      // Why it could not be made is an error of each request.
      const opened = await dispatcher?.catch(() => undefined);
      // Destroying the dispatcher hands an error to every HTTP/2 stream that is not quite closed. Closing the sockets
      // hands on none.
      await Promise.all([...sockets].map(closeSocket));
      await opened?.destroy();
    },
  };
}

function isMultiplexed(socket: Socket): boolean {
  return (socket as TLSSocket).alpnProtocol === 'h2';
}

async function closeSocket(socket: Socket): Promise<void> {
  if (socket.closed) return;
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.destroy();
  await closed;
}

async function sendRequest(
  { url, headers, milliseconds }: GetRequest,
  dispatcher: Dispatcher,
  options: TransportOptions,
  signal: AbortSignal,
): Promise<RawAnswer> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), timerLength(milliseconds));
  try {
    const response = await loadUndici().request(url, {
      dispatcher,
      signal: AbortSignal.any([signal, timeout.signal]),
      headers: { ...headers, 'accept-encoding': 'identity', 'user-agent': userAgent },
    });
    const bytes = await response.body.bytes();
    const header = (name: string) => single(response.headers[name]);
    if (options.needsEnd === true && response.statusCode === 200 && !saysItsEnd(header)) {
      throw new NoAnswer('network', `${options.server ?? 'the service'} did not say where its answer ends`);
    }
    return { status: response.statusCode, header, bytes };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (timeout.signal.aborted) {
      throw new NoAnswer('timeout', `no complete answer within ${Math.round(milliseconds) / 1000} s`);
    }
    throw error instanceof NoAnswer ? error : explain(error, options);
  } finally {
    clearTimeout(timer);
  }
}

function saysItsEnd(header: RawAnswer['header']): boolean {
  return header('content-length') !== undefined || /chunked$/i.test(header('transfer-encoding') ?? '');
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** A body that is not UTF-8 counts as empty: it is never content, but its status still decides what happens. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return '';
  }
}

const timeouts = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

// How Node names a certificate that does not verify, after OpenSSL. UNSPECIFIED covers what has no name, such as a
// signature that is too weak. Retrying fixes none of these.
const certificateErrors = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_CHAIN_TOO_LONG',
  'CERT_REJECTED',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'CRL_HAS_EXPIRED',
  'CRL_NOT_YET_VALID',
  'CRL_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_TLS_CERT_ALTNAME_FORMAT',
  'ERROR_IN_CERT_NOT_AFTER_FIELD',
  'ERROR_IN_CERT_NOT_BEFORE_FIELD',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'PATH_LENGTH_EXCEEDED',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY',
  'UNABLE_TO_DECRYPT_CERT_SIGNATURE',
  'UNABLE_TO_GET_CRL',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNSPECIFIED',
]);

const unreachable = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

function explain(error: unknown, { limits, server = 'the service' }: TransportOptions): NoAnswer {
  const causes = innermost(error);
  const { code = '', message = 'the connection failed' } = causes[0] ?? {};
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    return new NoAnswer('too-large', `the answer is longer than ${limits.bodyBytes} bytes`);
  }
  if (code === 'UND_ERR_CONNECT_TIMEOUT') {
    return new NoAnswer('timeout', `no connection within ${limits.connectTimeout / 1000} s`);
  }
  if (timeouts.has(code)) {
    return new NoAnswer('timeout', `${server} sent nothing for ${limits.idleTimeout / 1000} s`);
  }
  if (certificateErrors.has(code)) return new NoAnswer('certificate', `${message} (${code})`);
  const reason = code === '' || message.includes(code) ? message : `${message} (${code})`;
  return new NoAnswer(
    'network',
    reason,
    causes.every(({ code = '' }) => unreachable.has(code)),
  );
}

/**
 * The innermost causes, as "connect ECONNREFUSED" instead of the "fetch failed" around it: several where several addresses
 * were tried.
 */
function innermost(error: unknown): NodeJS.ErrnoException[] {
  const { cause, errors } = error as { cause?: unknown; errors?: unknown };
  if (Array.isArray(errors) && errors.length > 0) return errors.flatMap(innermost);
  return cause instanceof Error ? innermost(cause) : [error as NodeJS.ErrnoException];
}

export interface TransportOptions {
  ca: string | readonly string[] | undefined;
  concurrency: number;
  limits: Limits;
  /** What is asked, for people. @default 'the service' */
  server?: string;
  /**
   * Whether an answer that ends with its connection is refused: nobody knows whether it is whole. It is asked for over
   * HTTP/1.1, whose headers tell.
   */
  needsEnd?: boolean;
}

/** Shares nothing with the rest of the process. @throws NoAnswer if the proxy that is set cannot be used. */
async function createDispatcher(
  { ca, concurrency, limits, needsEnd = false }: TransportOptions,
  sockets: Set<Socket>,
): Promise<Dispatcher> {
  const { Agent, EnvHttpProxyAgent, Pool, buildConnector } = loadUndici();
  const idleTimeout = timerLength(limits.idleTimeout);
  const connectTimeout = timerLength(limits.connectTimeout);
  const allowH2 = !needsEnd;
  const tls = {
    allowH2,
    preferH2: true,
    // Explicit, because otherwise NODE_TLS_REJECT_UNAUTHORIZED=0 would turn verification off.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { secureContext: await trusting(ca) }),
  };
  const options: Agent.Options = {
    connections: Math.min(concurrency, firstPace),
    pipelining: 1,
    allowH2,
    // More than are ever under way: one that has just ended must not make the next one open another connection.
    h2Options: { maxConcurrentStreams: 2 * concurrency },
    headersTimeout: idleTimeout,
    bodyTimeout: idleTimeout,
    maxResponseSize: limits.bodyBytes,
    connect: buildConnector({ timeout: connectTimeout, ...tls }),
    // Here and not around the connector above, since a proxy's tunnels are made by one of undici's own.
    factory: (origin, { connect, ...others }: Pool.Options) =>
      new Pool(origin, { ...others, connect: remembering(connect as buildConnector.connector, sockets) }),
  };
  const proxy = proxySetting(process.env);
  if (proxy === undefined) return new Agent(options);
  if (proxy.url === undefined) {
    // Without its value, which may contain a password.
    throw new NoAnswer(
      'invalid-options',
      `the environment variable ${proxy.name} is not the URL of a proxy, such as http://proxy.example:3128`,
    );
  }
  return new EnvHttpProxyAgent({
    ...options,
    httpsProxy: proxy.url,
    // Not used, and not to be read from the environment: every request is one over HTTPS.
    httpProxy: '',
    connectTimeout,
    requestTls: tls,
    proxyTls: { rejectUnauthorized: true },
  });
}

/** Keeps the sockets that a connector opens in a set, until they are closed. */
function remembering(connector: buildConnector.connector, sockets: Set<Socket>): buildConnector.connector {
  return (target, callback) =>
    connector(target, (...result) => {
      const [, socket] = result;
      // Undici's type says null; after an error there is no second argument at all.
      if (socket) {
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
      }
      callback(...result);
    });
}

/**
 * Trusts certificates in addition to Node's roots, as NODE_EXTRA_CA_CERTS does; TLS itself would replace the roots. One
 * context serves all connections: parsing all roots takes longer than a handshake.
 */
async function trusting(ca: string | readonly string[]): Promise<SecureContext> {
  const { createSecureContext, getCACertificates } = await import('node:tls');
  return createSecureContext({
    ca: [...getCACertificates('default'), ...(typeof ca === 'string' ? [ca] : ca)],
  });
}

// Where the built-in fetch of Node 22 and 24 looks up its dispatcher.
const builtInDispatcher = Symbol.for('undici.globalDispatcher.1');

let undici: typeof import('undici') | undefined;

const userAgent = 'astro-snippets';

/**
 * Keeps the process alive when a connection ends. Node makes a new HTTP/2 stream for an answer to a request that was
 * aborted, and nothing listens to its errors. It gets one if the connection ends before the event loop turns: undici
 * closes one that was idle for seconds, and an event loop can stand still that long, as while Vite bundles.
 */
function ignoreErrorsOfLateAnswers(): void {
  const sessions = new WeakSet<Http2Session>();
  subscribe('http2.client.stream.created', (message) => {
    const { stream, headers } = message as { stream: Http2Stream; headers: Record<string, unknown> };
    const { session } = stream;
    if (session === undefined) return;
    if (headers['user-agent'] === userAgent) sessions.add(session);
    else if (sessions.has(session)) stream.on('error', () => {});
  });
}

/**
 * Loads undici on the first request, since loading takes time.
 *
 * On load, undici makes itself the dispatcher of the process's built-in `fetch`. To leave other code's requests alone,
 * the one before is restored in the same tick; if there was none, the built-in fetch sets its own when it is first used.
 * From Node 26 on both use the same symbol, which other users of this copy of undici need: there the built-in fetch is
 * initialized first, and undici leaves its dispatcher alone.
 */
function loadUndici(): typeof import('undici') {
  if (undici !== undefined) return undici;
  if (Number.parseInt(process.versions.node, 10) >= 26) void globalThis.Response;
  const globals = globalThis as { [builtInDispatcher]?: unknown };
  const before = globals[builtInDispatcher];
  undici = createRequire(import.meta.url)('undici') as typeof import('undici');
  ignoreErrorsOfLateAnswers();
  if (globals[builtInDispatcher] !== before) globals[builtInDispatcher] = before;
  return undici;
}
