import { setTimeout } from 'node:timers/promises';
import { defaultLimits, type Limits } from '../../../src/client/limits.ts';
import type { Transport, TransportOptions } from '../../../src/client/transport/transport.ts';
import { serviceCertificate } from '../service/authority.ts';
import { freePort } from './free-port.ts';
import { certificate, httpServer, makeCertificate, rawServer } from './tls-server.ts';

/** What a transport says of one request, as JSON can hold it. */
export interface TransportOutcome {
  status?: number;
  body?: string;
  [field: string]: unknown;
}

/** One request of one transport. Other runtimes get it as JSON. */
export interface TransportRequest {
  url: string;
  timeout: number;
  limits: Limits;
  refuseCloseDelimited: boolean;
}

interface TransportCase {
  name: string;
  /** Starts a server whose certificate is trusted. @returns its URL, and how to end it. */
  start(): Promise<{ origin: string; close(): Promise<void> }>;
  outcome: TransportOutcome;
  timeout?: number;
  limits?: Partial<Limits>;
  refuseCloseDelimited?: boolean;
}

const trusted = () => ({ using: serviceCertificate() });

/** A server that sends these texts one after the other, with a pause before each. */
const sends = (texts: readonly string[], { end = false, pause = 0 } = {}) =>
  rawServer(async (socket) => {
    for (const text of texts) {
      await setTimeout(pause);
      socket.write(text);
    }
    if (end) socket.end();
  }, trusted());

const head = (fields: string, status = '200 OK') => `HTTP/1.1 ${status}\r\n${fields}\r\n\r\n`;
const failed = (kind: string, message: string | undefined, isUnreachable = false) => ({
  kind,
  ...(message === undefined ? {} : { message }),
  isUnreachable,
});

/** What every transport does, over undici or the platform's `fetch`, with each kind of answer. */
export const transportCases: readonly TransportCase[] = [
  {
    name: 'an answer arrives whole, with the headers that matter',
    start: () =>
      sends([
        head(
          'Content-Type: application/json; charset=utf-8\r\nRetry-After: 7\r\nETag: "a,b"\r\nContent-Length: 9\r\nDate: Fri, 27 Nov 2026 10:00:00 GMT\r\nLast-Modified: Thu, 26 Nov 2026 10:00:00 GMT',
        ),
        '"Grü',
        'ße"',
      ]),
    outcome: {
      status: 200,
      body: '"Grüße"',
      contentType: 'application/json; charset=utf-8',
      retryAfter: '7',
      etag: '"a,b"',
      date: 'Fri, 27 Nov 2026 10:00:00 GMT',
      lastModified: 'Thu, 26 Nov 2026 10:00:00 GMT',
    },
  },
  {
    name: 'the request carries its headers, and asks for no compression',
    start: () =>
      httpServer(
        ({ headers, method }, response) =>
          response.end(
            [method, headers.authorization, headers['accept-encoding'], headers['user-agent']].join('|'),
          ),
        trusted(),
      ),
    outcome: { status: 200, body: 'GET|Bearer sk_wire|identity|astro-snippets' },
  },
  {
    name: 'a redirect is not followed',
    start: () =>
      httpServer(
        (request, response) =>
          request.url === '/'
            ? response.writeHead(302, { location: '/next' }).end()
            : response.end('followed'),
        trusted(),
      ),
    outcome: { status: 302, body: '' },
  },
  {
    name: 'a redirect to plain HTTP is not followed',
    start: () => sends([head('Location: http://127.0.0.1:9/\r\nContent-Length: 0', '301 Moved')]),
    outcome: { status: 301, body: '' },
  },
  {
    name: 'a 204 has an empty body',
    start: () => sends([head('X-None: 1', '204 No Content')]),
    outcome: { status: 204, body: '', contentType: '' },
  },
  {
    name: 'an error has its body',
    start: () =>
      sends([head('Content-Type: application/problem+json\r\nContent-Length: 2', '503 Busy'), '{}']),
    outcome: { status: 503, body: '{}', contentType: 'application/problem+json' },
  },
  {
    name: 'the first of two Retry-After headers counts',
    start: () => sends([head('Retry-After: 7\r\nRetry-After: 3600\r\nContent-Length: 0', '503 Busy')]),
    outcome: { status: 503, retryAfter: '7' },
  },
  {
    name: 'the first of two Retry-After headers counts, if both are dates',
    start: () =>
      sends([
        head(
          'Retry-After: Fri, 27 Nov 2026 10:00:00 GMT\r\nRetry-After: Fri, 27 Nov 2026 11:00:00 GMT\r\nContent-Length: 0',
          '503 Busy',
        ),
      ]),
    outcome: { status: 503, retryAfter: 'Fri, 27 Nov 2026 10:00:00 GMT' },
  },
  {
    name: 'an answer in chunks that is too long is not read to its end',
    limits: { bodyBytes: 1_000 },
    start: () =>
      rawServer((socket) => {
        socket.write(head('Transfer-Encoding: chunked'));
        const timer = setInterval(() => socket.write(`1f4\r\n${'x'.repeat(500)}\r\n`), 5);
        socket.on('close', () => clearInterval(timer));
      }, trusted()),
    outcome: failed('too-large', 'the answer is longer than 1000 bytes'),
  },
  {
    name: 'an answer that trickles in ends with the time for the whole',
    timeout: 400,
    start: () =>
      rawServer((socket) => {
        socket.write(head('Content-Length: 100000'));
        const timer = setInterval(() => socket.write('x'), 20);
        socket.on('close', () => clearInterval(timer));
      }, trusted()),
    outcome: failed('timeout', 'no complete answer within 0.4 s'),
  },
  {
    name: 'silence before an answer ends the request',
    limits: { idleTimeout: 1_000 },
    start: () => rawServer(() => {}, trusted()),
    outcome: failed('timeout', 'the service sent nothing for 1 s'),
  },
  {
    name: 'silence within an answer ends the request',
    limits: { idleTimeout: 1_000 },
    start: () => sends([head('Content-Length: 100'), 'x']),
    outcome: failed('timeout', 'the service sent nothing for 1 s'),
  },
  {
    name: 'an answer that is cut off fails',
    start: () => sends([head('Content-Length: 100'), 'x'], { end: true }),
    outcome: failed('network', undefined),
  },
  {
    name: 'a connection that ends before the answer fails',
    start: () => rawServer((socket) => socket.destroy(), trusted()),
    outcome: failed('network', undefined),
  },
  {
    name: 'an answer without a stated end is refused, where that is asked for',
    refuseCloseDelimited: true,
    start: () => sends([head('Connection: close'), 'may be cut'], { end: true }),
    outcome: failed('network', 'the service did not say where its answer ends'),
  },
  {
    name: 'a port that refuses is unreachable',
    start: async () => ({ origin: `https://localhost:${await freePort()}`, close: async () => {} }),
    outcome: failed('network', undefined, true),
  },
  {
    name: 'a certificate of an unknown authority is refused',
    start: () => httpServer((_, response) => response.end('{}'), { using: certificate }),
    outcome: failed('certificate', undefined),
  },
  {
    name: 'a certificate that has expired is refused',
    start: async () =>
      httpServer((_, response) => response.end('{}'), {
        using: await makeCertificate({
          notBeforeDate: new Date('2020-01-01'),
          notAfterDate: new Date('2020-02-01'),
        }),
      }),
    outcome: failed('certificate', undefined),
  },
];

/** Runs a case: `ask` makes its request, here or in another runtime. @returns the outcome. */
export async function outcomeOf(
  { start, timeout = 15_000, limits, refuseCloseDelimited = false }: TransportCase,
  ask: (request: TransportRequest) => Promise<TransportOutcome>,
): Promise<TransportOutcome> {
  const server = await start();
  try {
    const all = { ...defaultLimits, ...limits };
    return await ask({ url: `${server.origin}/`, timeout, limits: all, refuseCloseDelimited });
  } finally {
    await server.close();
  }
}

/** Makes the request of a case with a transport. Other runtimes run this function's source. */
export async function askWith(
  createTransport: (options: TransportOptions) => Transport,
  { url, timeout, limits, refuseCloseDelimited }: TransportRequest,
  ca?: string,
): Promise<TransportOutcome> {
  const transport = createTransport({ ca, concurrency: 1, limits, refuseCloseDelimited });
  const headers = { authorization: 'Bearer sk_wire' };
  try {
    const answer = await transport.send({ url, headers, timeout }, new AbortController().signal);
    return { ...answer, body: new TextDecoder().decode(answer.body) };
  } catch (error) {
    const { name, kind, message, isUnreachable } = error as Record<string, unknown>;
    return { name, kind, message, isUnreachable };
  } finally {
    await transport.close();
  }
}
