import { createSecureServer } from 'node:http2';
import type { createServer } from 'node:https';
import { makeCertificate } from '../support/tls-server.ts';
import { contentOf } from './contents.ts';

// A minimal service in its own process, as the client is measured and not the service. It sends its URL to its parent,
// which tells it how long to wait before an answer and which edition of the contents to send.
const { key, cert, ca } = await makeCertificate();
let latency = 0;
let edition = 0;

const answer: Parameters<typeof createSecureServer>[1] & Parameters<typeof createServer>[1] = (
  request: { url?: string | undefined },
  response: { setHeader(name: string, value: string): unknown; end(body: string): unknown },
) => {
  const id = Number(/\/snippets\/(\d+)/.exec(request.url ?? '')?.[1]);
  const send = () => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ content: contentOf(id, edition) }));
  };
  if (latency === 0) send();
  else setTimeout(send, latency);
};

const server = createSecureServer({ key, cert, allowHTTP1: true }, answer);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  process.send?.({ origin: `https://localhost:${port}`, ca });
});
process.on('message', (told: { latency?: number; edition?: number }) => {
  latency = told.latency ?? latency;
  edition = told.edition ?? edition;
  process.send?.('done');
});
process.on('disconnect', () => process.exit());
