import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { certificate, httpServer, rawServer, type TlsServer } from '../support/tls-server.ts';
import { apiKey, clientOf, failureOf, limitedClientOf, serve } from '../support/wire.ts';

const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

/** Writes as much as the other side accepts, for as long as it accepts it. */
function flood(socket: TLSSocket, piece: string | Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
    if (!socket.destroyed) socket.once('drain', more);
  };
  more();
}

/** Writes one piece every 20 ms, and after the last one that one again. */
function trickle(socket: TLSSocket, pieces: readonly string[]): void {
  let next = 0;
  const timer = setInterval(() => socket.write(pieces[Math.min(next++, pieces.length - 1)] ?? ''), 20);
  socket.on('close', () => clearInterval(timer));
}

// Made once, and before a request waits for it.
const bomb = gzipSync(Buffer.alloc(500 * 2 ** 20));

const tooLong: [what: string, code: string, answer: (socket: TLSSocket) => void][] = [
  [
    'an endless body',
    'too-large',
    (socket) => {
      socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
      flood(socket, `4000\r\n${'x'.repeat(0x4000)}\r\n`);
    },
  ],
  [
    'a body of 1 GB',
    'too-large',
    (socket) => {
      socket.write(`${head}Content-Length: ${2 ** 30}\r\n\r\n`);
      flood(socket, 'x'.repeat(0x4000));
    },
  ],
  [
    'a body without an end or a length',
    'too-large',
    (socket) => {
      socket.write(`${head}Connection: close\r\n\r\n`);
      flood(socket, 'x'.repeat(0x4000));
    },
  ],
  [
    'a compressed bomb that was not requested',
    'bad-answer',
    (socket) => {
      socket.write(`${head}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`);
      socket.end(bomb);
    },
  ],
  [
    'headers of 64 KB',
    'network',
    (socket) => {
      const headers = Array.from({ length: 64 }, (_, index) => `X-${index}: ${'y'.repeat(1000)}\r\n`).join(
        '',
      );
      socket.end(`${head}${headers}Content-Length: 2\r\n\r\n{}`);
    },
  ],
  [
    'endless headers',
    'network',
    (socket) => {
      socket.write(head);
      flood(socket, 'X: y\r\n'.repeat(100));
    },
  ],
];

// Longer than one second, which is the precision of the HTTP library's timers.
const limits = { attempts: 1, attemptTimeout: 3_500, idleTimeout: 1_200, connectTimeout: 1_200 };

const tooLate: [what: string, message: RegExp, answer: (socket: TLSSocket) => void][] = [
  ['that never arrives', /: the service sent nothing for 1\.2 s$/, () => {}],
  [
    'whose headers arrive one byte at a time',
    /: the service sent nothing for 1\.2 s$/,
    (socket) => trickle(socket, [...'HTTP/1.1 200 OK\r\nX: y']),
  ],
  [
    'that stops in the middle',
    /: the service sent nothing for 1\.2 s$/,
    (socket) => void socket.write(`${head}Content-Length: 100\r\n\r\n{"con`),
  ],
  [
    'that arrives one byte at a time',
    /: no complete answer within 3\.5 s$/,
    (socket) => {
      socket.write(`${head}Content-Length: 100000\r\n\r\n`);
      trickle(socket, [' ']);
    },
  ],
  [
    'after an endless series of interim responses',
    /: no complete answer within 3\.5 s$|HTTP/,
    (socket) => trickle(socket, ['HTTP/1.1 103 Early Hints\r\n\r\n']),
  ],
];

describe('a timeout ends', () => {
  test.each(tooLate)('an answer %s', async (_what, message, answer) => {
    const server = await serve(rawServer(answer));
    const start = performance.now();
    const error = await failureOf(limitedClientOf(server, limits).get(42));
    expect(error.message).toMatch(message);
    expect(performance.now() - start).toBeLessThan(15_000);
  });

  test('a connection to a server that never completes its TLS handshake', async () => {
    const sockets = new Set<Socket>();
    const silent = createTcpServer((socket) => void sockets.add(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const origin = `https://localhost:${(silent.address() as AddressInfo).port}`;
    const error = await failureOf(limitedClientOf({ origin }, limits).get(42));
    expect(error).toMatchObject({ code: 'timeout' });
    expect(error.message).toContain('no connection within 1.2 s');
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  test('no connection that is refused, which fails at once', async () => {
    const error = await failureOf(clientOf({ origin: 'https://127.0.0.1:9' }).get(42));
    expect(error).toMatchObject({ code: 'network', attempts: 5 });
    expect(error.message).toContain('ECONNREFUSED');
  });
});

describe('an answer that is too long is not read to its end:', () => {
  test.each(tooLong)('%s', async (_what, code, answer) => {
    const server = await serve(rawServer(answer));
    expect(
      await failureOf(clientOf(server, { limits: { attempts: 1, attemptTimeout: 60_000 } }).get(42)),
    ).toMatchObject({ code });
  });

  test.each([true, false])('a body of one byte more than the limit (HTTP/2: %s)', async (http2) => {
    const body = JSON.stringify({ content: 'x'.repeat(5000) });
    const server = await serve(httpServer((_, response) => void response.end(body), { http2 }));
    const just = await limitedClientOf(server, { bodyBytes: body.length }).get(42);
    expect(just.content).toHaveLength(5000);
    const error = await failureOf(limitedClientOf(server, { bodyBytes: body.length - 1 }).get(42));
    expect(error).toMatchObject({ code: 'too-large', attempts: 1 });
    expect(error.message).toContain(`longer than ${body.length - 1} bytes`);
  });

  test('a body of one byte more than the default limit of two megabytes', async () => {
    const around = JSON.stringify({ content: '' }).length;
    let length = 2 * 1024 * 1024 - around;
    const server = await serve(
      httpServer((_, response) => void response.end(JSON.stringify({ content: 'x'.repeat(length) }))),
    );
    expect((await clientOf(server).get(42)).content).toHaveLength(length);
    length += 1;
    expect(await failureOf(clientOf(server).get(42))).toMatchObject({ code: 'too-large', attempts: 1 });
  });

  test('headers of 64 KB, over HTTP/2', async () => {
    const headers = Object.fromEntries(
      Array.from({ length: 64 }, (_, index) => [`x-${index}`, 'y'.repeat(1000)]),
    );
    const server = await serve(httpServer((_, response) => void response.writeHead(200, headers).end('{}')));
    await failureOf(clientOf(server, { limits: { attempts: 1 } }).get(42));
  });
});

test('memory grows by less than 50 MB, whatever the service sends', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'snippets-memory-'));
  const servers: TlsServer[] = [];
  for (const [, , answer] of tooLong) servers.push(await serve(rawServer(answer)));
  const fine = await serve(httpServer((_, response) => void response.end('{"content":""}')));
  const script = join(folder, 'ask.mts');
  await writeFile(
    script,
    `import { LimitedClient } from ${JSON.stringify(join(import.meta.dirname, '../support/limited-client.ts'))};
     const ask = async (origin: string) => {
       const options = { apiKey: ${JSON.stringify(apiKey)}, renderBaseUrl: origin, ca: ${JSON.stringify(certificate.ca)} };
       const client = new LimitedClient({ ...options, limits: { attempts: 3, retryBase: 1, attemptTimeout: 60_000 } });
       const code = await client.get(1).then(() => 'fine', (error) => error.code);
       await client.close();
       return code;
     };
     // Warms up, so that what any client needs is not measured.
     for (let turn = 0; turn < 5; turn++) await ask(${JSON.stringify(fine.origin)});
     const before = process.resourceUsage().maxRSS;
     const codes = [];
     for (const origin of ${JSON.stringify(servers.map(({ origin }) => origin))}) codes.push(await ask(origin));
     console.log(JSON.stringify({ codes, grown: (process.resourceUsage().maxRSS - before) / 1024 }));`,
  );
  // What is new on the heap takes up to 48 MB before V8 looks for garbage, more or less of it on a busy machine.
  const args = ['--max-semi-space-size=1', script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
  await rm(folder, { recursive: true });
  const { codes, grown } = JSON.parse(stdout);
  expect(codes).toEqual(tooLong.map(([, code]) => code));
  // In MB, at its highest.
  expect(grown).toBeLessThan(50);
});
