import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import {
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type Settings,
} from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import selfsigned from 'selfsigned';

/** A running server for TLS. */
export interface TlsServer {
  /** `https://localhost:…` */
  origin: string;
  port: number;
  /** How many connections completed their handshake. */
  connections(): number;
  close(): Promise<void>;
}

/** A certificate that signs itself. */
export interface TestCertificate {
  key: string;
  cert: string;
  /** The authority to trust. */
  ca: string;
}

/** Makes a certificate for a host. */
export async function makeCertificate({
  name = 'localhost',
  notBeforeDate,
  notAfterDate,
}: {
  name?: string;
  notBeforeDate?: Date;
  notAfterDate?: Date;
} = {}): Promise<TestCertificate> {
  const made = await selfsigned.generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
    ...(notBeforeDate === undefined ? {} : { notBeforeDate }),
    ...(notAfterDate === undefined ? {} : { notAfterDate }),
  });
  return { key: made.private, cert: made.cert, ca: made.cert };
}

/** The certificate of a test file. A certificate for each test would take longer than most tests. */
export const certificate = await makeCertificate();

type Answer = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

interface HttpServerOptions {
  http2?: boolean;
  using?: Pick<TestCertificate, 'key' | 'cert'>;
  /** Settings sent to HTTP/2 clients. */
  settings?: Settings;
}

/** Starts a server for HTTP/2 and HTTP/1.1, or for HTTP/1.1 alone. */
export function httpServer(
  answer: Answer,
  { http2 = true, using = certificate, settings = {} }: HttpServerOptions = {},
): Promise<TlsServer> {
  const { key, cert } = using;
  return listen(
    http2
      ? createSecureServer({ key, cert, allowHTTP1: true, settings }, answer)
      : createHttpsServer({ key, cert }, answer as never),
  );
}

/**
 * Starts a server that writes raw bytes, for answers that no HTTP server would send. `respond` is called when
 * the headers of a request have arrived.
 */
export function rawServer(
  respond: (socket: TLSSocket, request: string) => void,
  { using = certificate }: Pick<HttpServerOptions, 'using'> = {},
): Promise<TlsServer> {
  const { key, cert } = using;
  return listen(
    createServer({ key, cert, ALPNProtocols: ['http/1.1'] }, (socket) => {
      let received = '';
      socket.on('error', () => {});
      socket.on('data', (bytes) => {
        received += bytes.toString('latin1');
        if (!received.includes('\r\n\r\n')) return;
        const request = received;
        received = '';
        respond(socket, request);
      });
    }),
  );
}

/** A running proxy. */
export interface TunnelProxy {
  /** `http://127.0.0.1:…` */
  origin: string;
  /** Each tunnel's target, and any API key sent to the proxy. */
  asked: string[];
  close(): Promise<void>;
}

/** Starts a proxy with tunnels (CONNECT) to servers on this machine. */
export async function tunnelProxy(): Promise<TunnelProxy> {
  const asked: string[] = [];
  const proxy = createHttpServer().on('connect', (request, socket: Socket) => {
    asked.push(`${request.url} ${request.headers.authorization ?? 'no key'}`);
    const upstream = connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    socket.on('close', () => upstream.destroy());
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  const { port, close } = await listen(proxy);
  return { origin: `http://127.0.0.1:${port}`, asked, close };
}

async function listen(server: Server): Promise<TlsServer> {
  const sockets = new Set<Socket>();
  let secured = 0;
  server.on('secureConnection', () => {
    secured += 1;
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `https://localhost:${port}`,
    port,
    connections: () => secured,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
