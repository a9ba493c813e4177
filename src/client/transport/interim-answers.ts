import type { Socket } from 'node:net';

/** The most interim answers (RFC 9110, section 15.2) before the final one. Servers send one or two. */
export const maxInterimAnswers = 1_000;

const lineFeed = 10;
const carriageReturn = 13;

/**
 * Makes undici accept `100 Continue` before an answer over HTTP/1.1. A server may send it unasked, but undici ends
 * the connection. It passes over all other interim answers, so each 100 that arrives on the socket becomes a 102.
 *
 * Only the heads of answers are read. The first write of a request begins one: requests follow one another.
 */
export function acceptContinue(socket: Socket): void {
  const { read, write } = socket;
  let isInHead = false;
  /** The start of the current line of a head, as far as it matters. */
  let line = '';
  let isInterim = false;

  const readHead = (chunk: Buffer) => {
    for (let index = 0; isInHead && index < chunk.length; index += 1) {
      const byte = chunk[index] as number;
      if (byte === lineFeed) {
        // An empty line ends a head. The next head begins there, unless this one was that of the final answer.
        if (line === '') [isInHead, isInterim] = [isInterim, false];
        line = '';
      } else if (byte !== carriageReturn && line.length < 'HTTP/1.1 100'.length) {
        line += String.fromCharCode(byte);
        if (/^HTTP\/1\.\d 1$/.test(line)) isInterim = true;
        if (/^HTTP\/1\.\d 100$/.test(line)) chunk[index] = '2'.charCodeAt(0);
      }
    }
  };

  socket.write = (...data: unknown[]) => {
    isInHead = true;
    return Reflect.apply(write, socket, data);
  };
  socket.read = (size) => {
    const chunk: unknown = read.call(socket, size);
    if (isInHead && Buffer.isBuffer(chunk)) readHead(chunk);
    return chunk;
  };
}
