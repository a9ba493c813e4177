import type { TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';

/** The start of a JSON answer. */
export const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

/** Writes for as long as the other side reads. */
function flood(socket: TLSSocket, piece: string | Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
    if (!socket.destroyed) socket.once('drain', more);
  };
  more();
}

// The bomb is made once, before any request waits for it.
const bomb = gzipSync(Buffer.alloc(100 * 2 ** 20));

/** Answers that are too long, and how requests for them fail. */
export const longAnswers: [name: string, code: string, answer: (socket: TLSSocket) => void][] = [
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
