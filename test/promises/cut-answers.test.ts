import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { certificate, httpServer, rawServer } from '../support/http/tls-server.ts';
import { limitedClientOf, serve } from '../support/http/wire.ts';
import { failureOf } from '../support/tools/failure.ts';

const content = `Grüße, <b>& more</b> 💡 ${'filler '.repeat(6)}`;
// White space at the end: the content is complete before the answer is.
const body = Buffer.from(`${JSON.stringify({ content })}\n\n`);
const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

/** The body in chunks of different lengths. */
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
  ['until the connection closes', Buffer.concat([Buffer.from(`${head}Connection: close\r\n\r\n`), body])],
];

// Each of a thousand connections would read the certificates of all authorities.
const authorities = getCACertificates('default');
beforeAll(() => setDefaultCACertificates([certificate.ca]));
afterAll(() => setDefaultCACertificates(authorities));

// One attempt per offset, although most fail.
const limits = { attempts: 1, downAfter: Number.POSITIVE_INFINITY };

describe('an answer that is cut off at any byte is an error:', () => {
  test.each(answers)('sent %s', async (_framing, answer) => {
    expect(answer.length).toBeGreaterThan(150);
    // The id in the URL is the offset of the cut, so that requests can run in parallel.
    const server = await serve(
      rawServer((socket, request) => {
        const [, id] = /^GET \/base\/snippets\/(\d+)\/render /.exec(request) ?? [];
        socket.end(answer.subarray(0, Number(id) - 1));
      }),
    );
    const client = limitedClientOf(server, limits, { concurrency: 10 });
    const offsets = Array.from({ length: answer.length + 1 }, (_, offset) => offset);
    const whole = await Promise.all(
      offsets.map(async (offset) => {
        const got = await client.get(offset + 1).catch((error: { code: string }) => error.code);
        if (typeof got === 'string') expect(['network', 'bad-answer'], `${offset} bytes`).toContain(got);
        else expect(got.content, `${offset} bytes`).toBe(content);
        return typeof got !== 'string';
      }),
    );
    // The complete answer, and without a stated length also those that lack only white space at the end.
    expect(whole.at(-1)).toBe(true);
    expect(whole.filter(Boolean).length).toBeLessThanOrEqual(3);
  });

  test('cut off by a reset of its HTTP/2 stream', async () => {
    const server = await serve(
      httpServer((request, response) => {
        const [, id] = /^\/base\/snippets\/(\d+)\/render$/.exec(request.url) ?? [];
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write(body.subarray(0, Number(id) - 1), () => response.stream.close(2));
      }),
    );
    const client = limitedClientOf(server, limits);
    const offsets = Array.from({ length: body.length + 1 }, (_, offset) => offset);
    await Promise.all(
      offsets.map(async (offset) => {
        const { code } = await failureOf(client.get(offset + 1));
        expect(['network', 'bad-answer'], `${offset} bytes`).toContain(code);
      }),
    );
  });
});
