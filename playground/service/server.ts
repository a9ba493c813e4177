import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Certificate } from './certificate.ts';

type Fetch = Parameters<typeof createAdaptorServer>[0]['fetch'];

/**
 * Listens on the loopback interface: a playground has no business on a network.
 *
 * With a certificate, it serves HTTPS alone, as the API has to (specification, sections 1 and 5): whoever speaks plain
 * HTTP to its port gets no answer. The website is served over plain HTTP: on the loopback interface nobody listens in,
 * and a browser would greet a newcomer with a warning of a certificate that nobody but this machine knows.
 */
export async function listen(fetch: Fetch, port = 0, certificate?: Certificate) {
  const server = createAdaptorServer(
    certificate
      ? { fetch, createServer: createSecureServer, serverOptions: { ...certificate, allowHTTP1: true } }
      : { fetch },
  );
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `${certificate ? 'https' : 'http'}://localhost:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      // Connections are kept alive by their clients, and would keep the server open with them.
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
