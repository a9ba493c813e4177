import {
  createSecureServer,
  constants as http2,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { makeCertificate } from '../support/tls-server.ts';
import { contentOf, kindOf } from './snippets.ts';

// A service over HTTP/2, in its own process, so that what is measured is the client. It does at random whatever a
// service, a gateway or a network may do. It sends its URL to its parent.

const { key, cert, ca } = await makeCertificate();
const server = createSecureServer({ key, cert });
const sockets = new Set<Socket>();
let outage: 'none' | 'answers 503' | 'does not listen' = 'none';

type Act = (stream: ServerHttp2Stream, id: number) => void;

const headers = { ':status': 200, 'content-type': 'application/json' };
const bodyOf = (id: number) => Buffer.from(JSON.stringify({ id, content: contentOf(id) }));

const answer: Act = (stream, id) => {
  if (stream.destroyed) return;
  const body = bodyOf(id);
  stream.respond({ ...headers, 'content-length': body.length });
  stream.end(body);
};

const refuse =
  (status: number, more: Record<string, string> = {}): Act =>
  (stream) => {
    const body = JSON.stringify({ status, title: 'Refused', detail: 'By chance.', type: 'about:blank' });
    stream.respond({ ':status': status, 'content-type': 'application/problem+json', ...more });
    stream.end(body);
  };

const cut: Act = (stream, id) => {
  const body = bodyOf(id);
  stream.respond({ ...headers, 'content-length': body.length });
  stream.write(body.subarray(0, body.length / 2));
  later(10, () => stream.close(http2.NGHTTP2_INTERNAL_ERROR));
};

const reset =
  (code: number): Act =>
  (stream) =>
    stream.close(code);

/** By the share of requests. */
const chances: readonly (readonly [share: number, act: Act])[] = [
  [0.05, (stream, id) => later(1_000 * Math.random(), () => answer(stream, id))],
  [0.005, () => {}],
  [0.02, cut],
  [0.01, reset(http2.NGHTTP2_INTERNAL_ERROR)],
  [0.01, reset(http2.NGHTTP2_REFUSED_STREAM)],
  [0.005, reset(http2.NGHTTP2_CANCEL)],
  [0.005, reset(http2.NGHTTP2_ENHANCE_YOUR_CALM)],
  [0.02, refuse(503)],
  [0.005, refuse(429)],
  [0.001, refuse(503, { 'retry-after': '1' })],
];

server.on('stream', (stream, { ':path': path = '' }) => {
  stream.on('error', () => {});
  const id = Number(/\/snippets\/(\d+)/.exec(path)?.[1]);
  const kind = kindOf(id);
  if (outage === 'answers 503') return refuse(503)(stream, id);
  if (kind === 'missing') return refuse(404)(stream, id);
  if (kind === 'dead') return refuse(500)(stream, id);
  let chance = Math.random();
  for (const [share, act] of chances) {
    chance -= share;
    if (chance < 0) return act(stream, id);
  }
  later(10 * Math.random(), () => answer(stream, id));
});

/** How connections end, and what happens to them before. */
const turns: readonly ((session: ServerHttp2Session) => void)[] = [
  // GOAWAY, then the open streams are served.
  (session) => session.close(),
  (session) => {
    // The last streams are refused.
    session.goaway(http2.NGHTTP2_NO_ERROR, Math.max(1, (session.state.lastProcStreamID ?? 1) - 10));
    later(500, () => session.destroy());
  },
  (session) => {
    session.goaway(http2.NGHTTP2_ENHANCE_YOUR_CALM);
    session.destroy();
  },
  (session) => session.destroy(),
  (session) => session.settings({ maxConcurrentStreams: 1 + Math.floor(100 * Math.random()) }),
];

server.on('session', (session) => {
  session.on('error', () => {});
  const turn = () =>
    later(20_000 * Math.random(), () => {
      if (session.destroyed || session.closed) return;
      turns[Math.floor(turns.length * Math.random())]?.(session);
      turn();
    });
  turn();
});

server.on('connection', (socket: Socket) => {
  socket.on('error', () => {});
  // Before the handshake.
  if (Math.random() < 0.05) return socket.destroy();
  sockets.add(socket);
  socket.on('close', () => sockets.delete(socket));
  return later(40_000 * Math.random(), () => socket.resetAndDestroy());
});
server.on('tlsClientError', () => {});
server.on('error', () => {});

/** For a few seconds every few minutes, nothing works. */
function beginOutage(): void {
  outage = Math.random() < 0.5 ? 'answers 503' : 'does not listen';
  if (outage === 'does not listen') {
    server.close();
    for (const socket of sockets) socket.destroy();
  }
  later(2_000 + 18_000 * Math.random(), () => {
    if (outage === 'does not listen') server.listen(port, '127.0.0.1');
    outage = 'none';
    later(60_000 + 120_000 * Math.random(), beginOutage);
  });
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
process.on('disconnect', () => process.exit());
