import { once } from 'node:events';
import { createServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Certificate } from './certificate.ts';

export interface RunningServer {
  origin: string;
  close(): Promise<void>;
}

type Fetch = Parameters<typeof createAdaptorServer>[0]['fetch'];

/**
 * Serves the API, over HTTPS alone (specification, sections 1 and 5): whoever speaks plain HTTP to its port gets
 * no answer.
 */
export async function listenSecurely(
  fetch: Fetch,
  { key, cert }: Certificate,
  port: number,
): Promise<RunningServer> {
  const server = createAdaptorServer({
    fetch,
    createServer: createSecureServer,
    serverOptions: { key, cert, allowHTTP1: true },
  });
  return listen(server, 'https', port);
}

/**
 * Serves the website, over plain HTTP: on the loopback interface nobody listens in, and a browser would greet a
 * newcomer with a warning of a certificate that nobody but this machine knows.
 */
export async function listenPlainly(fetch: Fetch, port: number): Promise<RunningServer> {
  return listen(createAdaptorServer({ fetch, createServer }), 'http', port);
}

/** Bound to the loopback interface: a playground has no business on a network. */
async function listen(server: Server, scheme: 'http' | 'https', port: number): Promise<RunningServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `${scheme}://localhost:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      // Connections are kept alive by their clients, and would keep the server open with them.
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
