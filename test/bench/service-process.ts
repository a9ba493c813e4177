import { certificate, httpServer } from '../support/http/tls-server.ts';
import { contentOf } from './contents.ts';

// A minimal service in its own process, since only the client is measured. It sends its URL to its parent,
// which tells the service how long to wait before an answer and which edition of the contents to send.
let latency = 0;
let edition = 0;

const { origin } = await httpServer((request, response) => {
  const id = Number(/\/snippets\/(\d+)/.exec(request.url)?.[1]);
  const send = () => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ content: contentOf(id, { edition }) }));
  };
  if (latency === 0) send();
  else setTimeout(send, latency);
});
process.send?.({ origin, ca: certificate.ca });
process.on('message', (told: { latency?: number; edition?: number }) => {
  latency = told.latency ?? latency;
  edition = told.edition ?? edition;
  process.send?.('done');
});
process.on('disconnect', () => process.exit());
