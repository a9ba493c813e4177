import { createSecureServer, constants as http2, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { makeCertificate } from '../support/http/tls-server.ts';

// A service over HTTP/2, in its own process, so that only the client is measured. It fails at random in every way that a
// service, a gateway or a network can.

/** Whether a snippet can arrive. Of twenty, one is dead and one is missing. */
export function kindOf(id: number): 'good' | 'dead' | 'missing' {
  return id % 20 === 1 ? 'dead' : id % 20 === 2 ? 'missing' : 'good';
}

/** The same for each id: a few bytes for most, 100 kB for some. */
export function contentOf(id: number): string {
  const length = id % 50 === 0 ? 3_000 : id % 7;
  return `<p>Snippet ${id}: Grüße & more</p>${'<b>“quoted”</b> and then some more.\n'.repeat(length)}`;
}

const later = (milliseconds: number, act: () => void) => void setTimeout(act, milliseconds);

type Act = (stream: ServerHttp2Stream, id: number) => void;

const answer: Act = (stream, id) => {
  if (stream.destroyed) return;
  stream.respond({ ':status': 200, 'content-type': 'application/json' });
  stream.end(JSON.stringify({ id, content: contentOf(id) }));
};

const cut: Act = (stream, id) => {
  stream.respond({ ':status': 200, 'content-type': 'application/json' });
  stream.write(JSON.stringify({ id, content: contentOf(id) }).slice(0, 20));
  later(10, () => stream.close(http2.NGHTTP2_INTERNAL_ERROR));
};

const refuse = (status: number, more = {}): Act => {
  const body = JSON.stringify({ status, title: 'Refused', detail: 'By chance.', type: 'about:blank' });
  return (stream) => {
    stream.respond({ ':status': status, 'content-type': 'application/problem+json', ...more });
    stream.end(body);
  };
};

/** What happens, by the share of requests. */
const chances: readonly (readonly [share: number, act: Act])[] = [
  [0.05, (stream, id) => later(1_000 * Math.random(), () => answer(stream, id))],
  [0.005, () => {}],
  [0.02, cut],
  [0.01, (stream) => stream.close(http2.NGHTTP2_INTERNAL_ERROR)],
  [0.01, (stream) => stream.close(http2.NGHTTP2_REFUSED_STREAM)],
  [0.005, (stream) => stream.close(http2.NGHTTP2_ENHANCE_YOUR_CALM)],
  [0.02, refuse(503)],
  [0.005, refuse(429)],
  [0.001, refuse(503, { 'retry-after': '1' })],
];

/** Sends the URL of the service and its authority to the parent. */
async function serve(): Promise<void> {
  const { key, cert, ca } = await makeCertificate();
  let isDown = false;
  const server = createSecureServer({ key, cert });
  server.on('stream', (stream, { ':path': path = '' }) => {
    stream.on('error', () => {});
    const id = Number(/\/snippets\/(\d+)/.exec(path)?.[1]);
    const fixed = isDown ? 503 : { good: undefined, dead: 500, missing: 404 }[kindOf(id)];
    if (fixed !== undefined) return refuse(fixed)(stream, id);
    let chance = Math.random();
    for (const [share, act] of chances) {
      chance -= share;
      if (chance < 0) return act(stream, id);
    }
    later(10 * Math.random(), () => answer(stream, id));
  });
  server.on('session', (session) => {
    session.on('error', () => {});
    // Half of the sessions close gracefully. The others are destroyed.
    later(20_000 * Math.random(), () => {
      if (session.destroyed || Math.random() < 0.5) return session.close();
      session.goaway(http2.NGHTTP2_NO_ERROR, Math.max(1, (session.state.lastProcStreamID ?? 1) - 10));
      return session.destroy();
    });
  });
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => {});
    // Some connections end before the handshake.
    later(Math.random() < 0.05 ? 0 : 40_000 * Math.random(), () => socket.resetAndDestroy());
  });
  for (const event of ['tlsClientError', 'error']) server.on(event, () => {});
  // For a few seconds every few minutes, nothing works.
  setInterval(() => {
    isDown = true;
    later(20_000 * Math.random(), () => {
      isDown = false;
    });
  }, 120_000);
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    process.send?.({ origin: `https://localhost:${port}`, ca });
  });
  process.on('disconnect', () => process.exit());
}

if (process.send !== undefined && process.argv[1] === import.meta.filename) await serve();
