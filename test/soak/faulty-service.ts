import {
  createSecureServer,
  constants as http2,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { makeCertificate } from '../support/tls-server.ts';
import { contentOf, type Kind, kindOf } from './snippets.ts';

// A service over HTTP/2, in its own process, so that what is measured is the client. It does at random whatever a
// service, a gateway or a network may do. It sends its URL to its parent, and when asked, what it has done so far.

export interface ServiceState {
  /** How often each thing was done. */
  done: Record<string, number>;
}

const done: Record<string, number> = {};
const note = (what: string) => {
  done[what] = (done[what] ?? 0) + 1;
};

const { key, cert, ca } = await makeCertificate();
const server = createSecureServer({ key, cert });
const sockets = new Set<Socket>();
let outage: 'none' | 'answers 503' | 'does not listen' = 'none';

type Act = (stream: ServerHttp2Stream, id: number) => void;

const headers = { ':status': 200, 'content-type': 'application/json' };
const bodyOf = (id: number) => Buffer.from(JSON.stringify({ id, content: contentOf(id) }));

function answer(stream: ServerHttp2Stream, id: number): void {
  if (stream.destroyed) return;
  const body = bodyOf(id);
  stream.respond({ ...headers, 'content-length': body.length });
  stream.end(body);
}

function refuse(stream: ServerHttp2Stream, status: number, more: Record<string, string> = {}): void {
  const body = JSON.stringify({ status, title: 'Refused', detail: 'By chance.', type: 'about:blank' });
  stream.respond({ ':status': status, 'content-type': 'application/problem+json', ...more });
  stream.end(body);
}

function cutWithLength(stream: ServerHttp2Stream, id: number): void {
  const body = bodyOf(id);
  stream.respond({ ...headers, 'content-length': body.length });
  stream.write(body.subarray(0, body.length / 2));
  later(10, () => stream.close(http2.NGHTTP2_INTERNAL_ERROR));
}

function cutWithoutLength(stream: ServerHttp2Stream, id: number): void {
  const body = bodyOf(id);
  stream.respond(headers);
  stream.end(body.subarray(0, body.length / 2));
}

function trickle(stream: ServerHttp2Stream, id: number): void {
  const body = bodyOf(id);
  stream.respond(headers);
  const step = Math.ceil(body.length / 10);
  const send = (from: number) => {
    if (stream.destroyed) return;
    stream.write(body.subarray(from, from + step));
    if (from + step >= body.length) stream.end();
    else later(30, () => send(from + step));
  };
  send(0);
}

const reset =
  (code: number): Act =>
  (stream) =>
    stream.close(code);

/** By the share of requests. */
const chances: readonly (readonly [share: number, what: string, act: Act])[] = [
  [0.05, 'slow answer', (stream, id) => later(1_000 * Math.random(), () => answer(stream, id))],
  [0.02, 'trickled answer', trickle],
  [0.005, 'no answer', () => {}],
  [0.01, 'cut answer', cutWithLength],
  [0.01, 'short answer', cutWithoutLength],
  [0.01, 'reset: INTERNAL_ERROR', reset(http2.NGHTTP2_INTERNAL_ERROR)],
  [0.01, 'reset: REFUSED_STREAM', reset(http2.NGHTTP2_REFUSED_STREAM)],
  [0.005, 'reset: CANCEL', reset(http2.NGHTTP2_CANCEL)],
  [0.005, 'reset: ENHANCE_YOUR_CALM', reset(http2.NGHTTP2_ENHANCE_YOUR_CALM)],
  [0.01, '500', (stream) => refuse(stream, 500)],
  [0.01, '503', (stream) => refuse(stream, 503)],
  [0.005, '429', (stream) => refuse(stream, 429)],
  [0.001, '503, Retry-After', (stream) => refuse(stream, 503, { 'retry-after': '1' })],
];

const always: Readonly<Record<Exclude<Kind, 'good'>, Act>> = {
  dead: (stream) => refuse(stream, 500),
  missing: (stream) => refuse(stream, 404),
  forbidden: (stream) => refuse(stream, 403),
  cut: cutWithLength,
  malformed: cutWithoutLength,
  reset: reset(http2.NGHTTP2_INTERNAL_ERROR),
  silent: () => {},
  huge(stream) {
    stream.respond(headers);
    stream.end(Buffer.alloc(300_000, ' '));
  },
};

server.on('stream', (stream, { ':path': path = '' }) => {
  stream.on('error', () => {});
  const id = Number(/\/snippets\/(\d+)/.exec(path)?.[1]);
  if (outage === 'answers 503') return refuse(stream, 503);
  const kind = kindOf(id);
  if (kind !== 'good') return always[kind](stream, id);
  let chance = Math.random();
  for (const [share, what, act] of chances) {
    chance -= share;
    if (chance >= 0) continue;
    note(what);
    return act(stream, id);
  }
  note('answer');
  later(10 * Math.random(), () => answer(stream, id));
});

/** How connections end, and what happens to them before. */
const turns: readonly (readonly [what: string, act: (session: ServerHttp2Session) => void])[] = [
  ['GOAWAY, then the open streams are served', (session) => session.close()],
  [
    'GOAWAY that refuses the last streams',
    (session) => {
      session.goaway(http2.NGHTTP2_NO_ERROR, Math.max(1, (session.state.lastProcStreamID ?? 1) - 10));
      later(500, () => session.destroy());
    },
  ],
  [
    'GOAWAY with an error',
    (session) => {
      session.goaway(http2.NGHTTP2_ENHANCE_YOUR_CALM);
      session.destroy();
    },
  ],
  ['closed without GOAWAY', (session) => session.destroy()],
  [
    'fewer streams at once',
    (session) => session.settings({ maxConcurrentStreams: 1 + Math.floor(20 * Math.random()) }),
  ],
  ['more streams at once', (session) => session.settings({ maxConcurrentStreams: 100 })],
];

server.on('session', (session) => {
  session.on('error', () => {});
  const turn = () =>
    later(20_000 * Math.random(), () => {
      if (session.destroyed || session.closed) return;
      const chosen = turns[Math.floor(turns.length * Math.random())];
      if (chosen === undefined) return;
      note(chosen[0]);
      chosen[1](session);
      turn();
    });
  turn();
});

server.on('connection', (socket: Socket) => {
  socket.on('error', () => {});
  if (Math.random() < 0.05) {
    note('closed before the handshake');
    return socket.destroy();
  }
  sockets.add(socket);
  socket.on('close', () => sockets.delete(socket));
  return later(40_000 * Math.random(), () => {
    if (socket.destroyed) return;
    note('TCP reset');
    socket.resetAndDestroy();
  });
});
server.on('tlsClientError', () => {});
server.on('error', () => {});

/** For a few seconds every few minutes, nothing works. */
function beginOutage(): void {
  outage = Math.random() < 0.5 ? 'answers 503' : 'does not listen';
  note(`outage: ${outage}`);
  if (outage === 'does not listen') {
    server.close();
    for (const socket of sockets) socket.destroy();
  }
  later(2_000 + 18_000 * Math.random(), endOutage);
}

function endOutage(): void {
  if (outage === 'does not listen') server.listen(port, '127.0.0.1');
  outage = 'none';
  later(60_000 + 120_000 * Math.random(), beginOutage);
}

function later(milliseconds: number, act: () => void): void {
  setTimeout(act, milliseconds);
}

let port = 0;
server.listen(0, '127.0.0.1', () => {
  ({ port } = server.address() as AddressInfo);
  process.send?.({ origin: `https://localhost:${port}`, ca });
  later(30_000, beginOutage);
});
process.on('message', () => process.send?.({ done } satisfies ServiceState));
process.on('disconnect', () => process.exit());
