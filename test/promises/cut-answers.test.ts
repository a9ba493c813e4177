import { describe, expect, test } from 'vitest';
import { httpServer, rawServer } from '../support/tls-server.ts';
import { clientOf, failureOf, serve } from '../support/wire.ts';

const content = `Grüße, <b>& more</b> 💡 ${'filler '.repeat(45)}`;
// With white space after it: the content is whole before the answer is.
const body = Buffer.from(`${JSON.stringify({ content })}\n\n`);
const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

/** The body in chunks of uneven lengths, with the end that says that it was all. */
function chunked(bytes: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0, size = 7; at < bytes.length; at += size, size = (size * 2) % 61) {
    const chunk = bytes.subarray(at, at + size);
    chunks.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
  }
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')]);
}

const answers: [framing: string, answer: Buffer][] = [
  [
    'with Content-Length',
    Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`), body]),
  ],
  ['chunked', Buffer.concat([Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n`), chunked(body)])],
  ['to the end of the connection', Buffer.concat([Buffer.from(`${head}Connection: close\r\n\r\n`), body])],
];

// One attempt for each offset, and no breaker: here the service is meant to fail.
const limits = { attempts: 1, breakerMinimum: Number.POSITIVE_INFINITY };

describe('an answer that is cut at any byte is whole or has failed', () => {
  test.each(answers)('%s', async (_framing, answer) => {
    expect(answer.length).toBeGreaterThan(400);
    let offset = 0;
    const server = await serve(rawServer((socket) => socket.end(answer.subarray(0, offset))));
    const client = clientOf(server, { limits, concurrency: 1 });
    let whole = 0;
    for (offset = 0; offset <= answer.length; offset++) {
      const got = await client.get(1).catch((error: { code: string }) => error.code);
      if (typeof got === 'string') expect(['network', 'bad-answer'], `${offset} bytes`).toContain(got);
      else expect(got.content, `${offset} bytes`).toBe(content);
      if (typeof got !== 'string') whole += 1;
    }
    // The whole answer, and where nothing says how long it is, all of it but the white space at its end.
    expect(whole).toBeGreaterThanOrEqual(1);
    expect(whole).toBeLessThanOrEqual(3);
  });

  test('by a reset of its HTTP/2 stream', async () => {
    let offset = 0;
    const server = await serve(
      httpServer((_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write(body.subarray(0, offset), () => response.stream.close(2));
      }),
    );
    const client = clientOf(server, { limits });
    for (offset = 0; offset <= body.length; offset++) {
      const { code } = await failureOf(client.get(1));
      expect(['network', 'bad-answer'], `${offset} bytes`).toContain(code);
    }
  });

  test('is tried again, five times in all', async () => {
    const server = await serve(rawServer((socket) => socket.end(`${head}Content-Length: 400\r\n\r\n{"con`)));
    expect(await failureOf(clientOf(server).get(1))).toMatchObject({ attempts: 5 });
  });
});
