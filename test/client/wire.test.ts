import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { SnippetClient, type SnippetClientOptions, SnippetError } from '../../src/client/index.ts';
import { instantClock } from '../support/clock.ts';
import {
  certificate,
  httpServer,
  makeCertificate,
  rawServer,
  type TlsServer,
} from '../support/tls-server.ts';

const apiKey = 'sk_wire_8d1f27c3a9e64b50';
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const thing of open.splice(0).reverse()) await thing.close();
});

async function serve(server: Promise<TlsServer>): Promise<TlsServer> {
  const running = await server;
  open.push(running);
  return running;
}

function clientOf(server: { origin: string }, options: Partial<SnippetClientOptions> = {}): SnippetClient {
  const client = new SnippetClient(
    { apiKey, renderBaseUrl: `${server.origin}/base`, ca: certificate.ca, ...options },
    instantClock(),
  );
  open.push(client);
  return client;
}

async function failureOf(promise: Promise<unknown>): Promise<SnippetError> {
  const error = await promise.then(
    (value) => value,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SnippetError);
  return error as SnippetError;
}

const content = JSON.stringify({ content: 'Grüße, <b>& more</b>' });
const fine = (_: Http2ServerRequest, response: Http2ServerResponse) => {
  response.setHeader('content-type', 'application/json');
  response.end(content);
};

describe('a request', () => {
  test('carries the key as a bearer credential, asks for JSON, and for no compression', async () => {
    let seen: Http2ServerRequest | undefined;
    const server = await serve(
      httpServer((request, response) => {
        seen = request;
        fine(request, response);
      }),
    );
    await clientOf(server).render(42, { b: 'ü&=#/?', a: [1, null] });
    expect(seen?.method).toBe('GET');
    expect(seen?.url).toBe(
      `/base/snippets/42/render?params=${encodeURIComponent('{"a":[1,null],"b":"ü&=#/?"}')}`,
    );
    expect(seen?.headers).toMatchObject({
      authorization: `Bearer ${apiKey}`,
      'accept-encoding': 'identity',
      accept: 'application/json, application/problem+json',
    });
  });

  test.for([
    [true, '2.0'],
    [false, '1.1'],
  ] as const)('where HTTP/2 is offered: %s', async ([http2, version]) => {
    const versions = new Set<string>();
    const server = await serve(
      httpServer(
        (request, response) => {
          versions.add(request.httpVersion);
          fine(request, response);
        },
        { http2 },
      ),
    );
    const client = clientOf(server);
    expect(await client.get(1)).toEqual({
      content: 'Grüße, <b>& more</b>',
      variant: 'render',
      milliseconds: expect.any(Number),
    });
    await Promise.all([2, 3, 4, 5].map((id) => client.get(id)));
    expect([...versions]).toEqual([version]);
  });

  test.for([true, false])('no more are under way than concurrency allows (HTTP/2: %s)', async (http2) => {
    let now = 0;
    let most = 0;
    const server = await serve(
      httpServer(
        (request, response) => {
          most = Math.max(most, ++now);
          setTimeout(() => {
            now -= 1;
            fine(request, response);
          }, 5);
        },
        { http2 },
      ),
    );
    const client = clientOf(server, { concurrency: 3 });
    await Promise.all(Array.from({ length: 30 }, (_, index) => client.get(index + 1)));
    expect(most).toBe(3);
  });

  test('a redirect is not followed: the other server sees nothing', async () => {
    const other = await serve(httpServer(fine));
    const server = await serve(
      httpServer((_, response) => {
        response.writeHead(302, { location: `${other.origin}/base/snippets/42/render` });
        response.end();
      }),
    );
    expect(await failureOf(clientOf(server).get(42))).toMatchObject({ code: 'redirect', attempts: 1 });
    expect(other.connections()).toBe(0);
  });
});

describe('an answer that is cut short is never used', () => {
  const headers = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
  const half = content.slice(0, 20);
  test.for([
    ['by Content-Length', `${headers}Content-Length: ${Buffer.byteLength(content)}\r\n\r\n${half}`],
    ['in a chunk', `${headers}Transfer-Encoding: chunked\r\n\r\nff\r\n${half}`],
    ['between chunks', `${headers}Transfer-Encoding: chunked\r\n\r\n14\r\n${half}\r\n`],
    ['without a length', `${headers}Connection: close\r\n\r\n${half}`],
    ['in its headers', headers],
    ['before it began', ''],
  ] as const)('%s', async ([, bytes]) => {
    const server = await serve(rawServer((socket) => socket.end(bytes)));
    const error = await failureOf(clientOf(server).get(42));
    expect(['bad-answer', 'network']).toContain(error.code);
    expect(error.attempts).toBe(5);
  });

  test('by a reset of its HTTP/2 stream', async () => {
    const server = await serve(
      httpServer((_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write(half);
        setTimeout(() => response.stream.close(2), 5);
      }),
    );
    const error = await failureOf(clientOf(server).get(42));
    expect(['bad-answer', 'network']).toContain(error.code);
    expect(error.attempts).toBe(5);
  });

  test('a whole one without a length is used', async () => {
    const server = await serve(
      rawServer((socket) => socket.end(`${headers}Connection: close\r\n\r\n${content}`)),
    );
    expect(await clientOf(server).get(42)).toMatchObject({ content: 'Grüße, <b>& more</b>' });
  });
});

describe('an answer that cannot be taken', () => {
  const limits = { attempts: 1, attemptTimeout: 400, idleTimeout: 150, connectTimeout: 150 };
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

  test.for([true, false])('longer than the limit (HTTP/2: %s)', async (http2) => {
    const server = await serve(
      httpServer((_, response) => void response.end(JSON.stringify({ content: 'x'.repeat(5000) })), {
        http2,
      }),
    );
    const error = await failureOf(clientOf(server, { limits: { bodyBytes: 4096 } }).get(42));
    expect(error).toMatchObject({ code: 'too-large', attempts: 1 });
    expect(error.message).toContain('longer than 4096 bytes');
  });

  test('endless', async () => {
    const server = await serve(
      rawServer((socket) => {
        socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
        const more = () => {
          while (!socket.destroyed && socket.write(`400\r\n${'x'.repeat(1024)}\r\n`));
          if (!socket.destroyed) socket.once('drain', more);
        };
        more();
      }),
    );
    expect(await failureOf(clientOf(server).get(42))).toMatchObject({ code: 'too-large' });
  });

  test('that never comes', async () => {
    const server = await serve(rawServer(() => {}));
    const error = await failureOf(clientOf(server, { limits }).get(42));
    expect(error).toMatchObject({ code: 'timeout', attempts: 1 });
  });

  test('that stops in the middle', async () => {
    const server = await serve(
      rawServer((socket) => socket.write(`${head}Content-Length: 100\r\n\r\n{"con`)),
    );
    expect(await failureOf(clientOf(server, { limits }).get(42))).toMatchObject({ code: 'timeout' });
  });

  test('that trickles, one byte at a time', async () => {
    const server = await serve(
      rawServer((socket) => {
        socket.write(`${head}Content-Length: 100000\r\n\r\n`);
        const timer = setInterval(() => socket.write(' '), 20);
        socket.on('close', () => clearInterval(timer));
      }),
    );
    const error = await failureOf(clientOf(server, { limits }).get(42));
    expect(error).toMatchObject({ code: 'timeout' });
    expect(error.message).toContain('no whole answer within 0.4 s');
  });

  test('that is no UTF-8', async () => {
    const server = await serve(
      httpServer((_, response) => void response.end(Buffer.from('{"content":"Gr\xfc\xdfe"}', 'latin1'))),
    );
    expect(await failureOf(clientOf(server).get(42))).toMatchObject({ code: 'bad-answer' });
  });

  test('from a server whose TLS never speaks', async () => {
    const sockets = new Set<Socket>();
    const silent = createTcpServer((socket) => void sockets.add(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const origin = `https://localhost:${(silent.address() as AddressInfo).port}`;
    expect(await failureOf(clientOf({ origin }, { limits }).get(42))).toMatchObject({ code: 'timeout' });
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  test('from nobody', async () => {
    const error = await failureOf(clientOf({ origin: 'https://127.0.0.1:9' }).get(42));
    expect(error).toMatchObject({ code: 'network', attempts: 5 });
    expect(error.message).toContain('ECONNREFUSED');
  });
});

describe('a certificate that does not verify', () => {
  test.for([
    ['of an unknown authority', async () => certificate, undefined],
    ['for another host', () => makeCertificate({ name: 'elsewhere.test' }), 'own'],
    [
      'that has expired',
      () => makeCertificate({ notBeforeDate: new Date('2020-01-01'), notAfterDate: new Date('2020-02-01') }),
      'own',
    ],
  ] as const)('%s: one request, also under NODE_TLS_REJECT_UNAUTHORIZED=0', async ([, make, trust]) => {
    const using = await make();
    const server = await serve(httpServer(fine, { using }));
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const client = clientOf(server, { ca: trust === 'own' ? using.ca : undefined });
    expect(await failureOf(client.get(42))).toMatchObject({ code: 'certificate', attempts: 1 });
    expect(client.counts).toEqual({ requests: 1, retries: 0, fallbacks: 0 });
  });

  test('ca adds an authority, as text or as a list', async () => {
    const server = await serve(httpServer(fine));
    const other = await makeCertificate({ name: 'other.test' });
    await clientOf(server, { ca: certificate.ca }).get(42);
    await clientOf(server, { ca: [other.ca, certificate.ca] }).get(42);
  });
});

describe('ending', () => {
  test('the signal of the caller ends one request at once', async () => {
    const server = await serve(rawServer(() => {}));
    const client = clientOf(server);
    const controller = new AbortController();
    const failure = failureOf(client.get(42, undefined, { signal: controller.signal }));
    setTimeout(() => controller.abort(new Error('enough')), 50);
    expect(await failure).toMatchObject({ code: 'aborted', snippetId: 42, cause: { message: 'enough' } });
    expect(await failureOf(client.get(43, undefined, { signal: controller.signal }))).toMatchObject({
      code: 'aborted',
    });
  });

  test('the signal of the caller ends one that still waits for its turn', async () => {
    const server = await serve(rawServer(() => {}));
    const client = clientOf(server, { concurrency: 1 });
    const first = failureOf(client.get(1));
    const queued = client.get(2, undefined, { signal: AbortSignal.timeout(50) });
    const winner = await Promise.race([first, failureOf(queued)]);
    expect(winner).toMatchObject({ code: 'aborted', snippetId: 2 });
    await client.close();
    expect(await first).toMatchObject({ code: 'closed' });
  });

  test('close ends what is under way, and what comes after', async () => {
    const server = await serve(rawServer(() => {}));
    const client = clientOf(server);
    const failures = [1, 2].map((id) => failureOf(client.get(id)));
    setTimeout(() => client.close(), 50);
    for (const failure of failures) expect(await failure).toMatchObject({ code: 'closed' });
    expect(await failureOf(client.get(3))).toMatchObject({ code: 'closed' });
  });

  test('a closed client keeps no process alive', async () => {
    const server = await serve(httpServer(fine));
    const script = join(tmpdir(), `snippet-client-${process.pid}.mts`);
    await writeFile(
      script,
      `import { SnippetClient } from ${JSON.stringify(join(import.meta.dirname, '../../src/client/index.ts'))};
       const client = new SnippetClient(${JSON.stringify({ apiKey, renderBaseUrl: server.origin, ca: certificate.ca })});
       await client.get(1);
       await client.close();
       console.log('closed');`,
    );
    const { stdout } = await promisify(execFile)(process.execPath, [script], { timeout: 5000 });
    expect(stdout.trim()).toBe('closed');
  });
});

test('a proxy is used where one is set, and sees only that there is a connection', async () => {
  const server = await serve(httpServer(fine));
  const asked: string[] = [];
  const proxy = createServer().on('connect', (request, socket: Socket) => {
    asked.push(`${request.url} ${request.headers.authorization ?? 'no key'}`);
    const upstream = connect(server.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  open.push({
    async close() {
      proxy.close();
      proxy.closeAllConnections();
    },
  });
  vi.stubEnv('NO_PROXY', '');
  vi.stubEnv('no_proxy', '');
  vi.stubEnv('HTTPS_PROXY', `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  expect(await clientOf(server).get(42)).toMatchObject({ variant: 'render' });
  expect(asked).toEqual([`localhost:${server.port} no key`]);

  const untrusting = clientOf(server, { ca: undefined });
  expect(await failureOf(untrusting.get(42))).toMatchObject({ code: 'certificate' });
});
