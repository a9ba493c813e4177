import { once } from 'node:events';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import type { ApiEnvironment } from './api-environment.ts';
import type { Certificate } from './certificate.ts';

export interface RunningServer {
  origin: string;
  close(): Promise<void>;
}

/**
 * Serves over HTTPS alone (specification, sections 1 and 5): whoever speaks plain HTTP to this port gets no
 * answer. Bound to the loopback interface, because a playground has no business on a network.
 */
export async function listen(
  app: Hono<ApiEnvironment>,
  { key, cert }: Certificate,
  port: number,
): Promise<RunningServer> {
  const server = createAdaptorServer({
    fetch: app.fetch,
    createServer: createSecureServer,
    serverOptions: { key, cert, allowHTTP1: true },
  }) as Http2SecureServer;
  const sockets = new Set<Socket>();
  server.on('secureConnection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const origin = `https://localhost:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    async close() {
      const closed = once(server, 'close');
      server.close();
      // Connections are kept alive by their clients, and would keep the server open with them.
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
