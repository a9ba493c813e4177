import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { head, longAnswers } from '../support/http/long-answers.ts';
import { httpServer, rawServer } from '../support/http/tls-server.ts';
import { clientOf, limitedClientOf, serve } from '../support/http/wire.ts';
import { failureOf } from '../support/tools/failure.ts';

/** Writes a piece every 20 ms, and repeats the last one. */
function trickle(socket: TLSSocket, pieces: readonly string[]): void {
  let next = 0;
  const timer = setInterval(() => socket.write(pieces[Math.min(next++, pieces.length - 1)] ?? ''), 20);
  socket.on('close', () => clearInterval(timer));
}

// Longer than a second, the precision of the HTTP library's timers.
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
  test('an answer that comes too late', async () => {
    // In parallel, since each takes seconds.
    await Promise.all(
      tooLate.map(async ([what, message, answer]) => {
        const server = await serve(rawServer(answer));
        const error = await failureOf(limitedClientOf(server, limits).get(42));
        expect(error.message, `one ${what}`).toMatch(message);
      }),
    );
  });

  test('a connection to a server that never completes its TLS handshake', async () => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => void sockets.add(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const origin = `https://localhost:${(silent.address() as AddressInfo).port}`;
    const error = await failureOf(limitedClientOf({ origin }, limits).get(42));
    expect(error.code).toBe('timeout');
    expect(error.message).toContain('no connection within 1.2 s');
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
});

describe('an answer that is too long is not read to its end:', () => {
  test.each(longAnswers)('%s', async (_what, code, answer) => {
    const server = await serve(rawServer(answer));
    expect(
      await failureOf(clientOf(server, { limits: { attempts: 1, attemptTimeout: 60_000 } }).get(42)),
    ).toMatchObject({ code });
  });

  test.each([true, false])('a body of one byte more than two megabytes (HTTP/2: %s)', async (http2) => {
    const limit = 2 * 1024 * 1024;
    let length = limit - JSON.stringify({ content: '' }).length;
    const server = await serve(
      httpServer((_, response) => void response.end(JSON.stringify({ content: 'x'.repeat(length) })), {
        http2,
      }),
    );
    expect((await clientOf(server).get(42)).content).toHaveLength(length);
    length += 1;
    const error = await failureOf(clientOf(server).get(42));
    expect(error).toMatchObject({ code: 'too-large', attempts: 1 });
    expect(error.message).toContain(`longer than ${limit} bytes`);
  });

  test('headers of 64 KB, over HTTP/2', async () => {
    const headers = Object.fromEntries(
      Array.from({ length: 64 }, (_, index) => [`x-${index}`, 'y'.repeat(1000)]),
    );
    const server = await serve(httpServer((_, response) => void response.writeHead(200, headers).end('{}')));
    await failureOf(clientOf(server, { limits: { attempts: 1 } }).get(42));
  });
});
