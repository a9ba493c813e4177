import { once } from 'node:events';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { SnippetClientOptions } from '../../src/client/index.ts';
import { defaultLimits } from '../../src/client/limits.ts';
import { httpsTransport } from '../../src/client/transport/https.ts';
import { freePort } from '../support/http/free-port.ts';
import { certificate, httpServer, rawServer } from '../support/http/tls-server.ts';
import { apiKey, clientOf, closeAfterwards, serve } from '../support/http/wire.ts';
import { failureOf } from '../support/tools/failure.ts';

const content = JSON.stringify({ content: 'Grüße, <b>& more</b>' });
const fine = (_: Http2ServerRequest, response: Http2ServerResponse) => {
  response.setHeader('content-type', 'application/json');
  response.end(content);
};

describe('a request', () => {
  test('carries the API key as a bearer credential and asks for uncompressed JSON', async () => {
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
  ] as const)('with HTTP/2 offered by the server (%s) uses HTTP/%s', async ([http2, version]) => {
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
});

test.for([
  ['HTTP/2', 100, 100, 1, {}],
  ['HTTP/2 with a server that takes 10 streams', 100, 10, 20, { settings: { maxConcurrentStreams: 10 } }],
  ['HTTP/1.1', 20, 1, 20, { http2: false }],
] as const)(
  'over %s %i requests are made at once, %i on a connection, on up to %i connections',
  async ([, together, onOne, connections, options]) => {
    const held: { socket: unknown; answer(): void }[] = [];
    let most = { together: 0, onOne: 0 };
    // The limit grows with each answer, so answers wait until no more requests arrive.
    const answerWhenQuiet = async () => {
      for (let before = 0; before !== held.length; ) {
        before = held.length;
        await setTimeout(20);
        await setImmediate();
      }
      const perSocket = [...Map.groupBy(held, ({ socket }) => socket).values()].map((all) => all.length);
      most = {
        together: Math.max(most.together, held.length),
        onOne: Math.max(most.onOne, ...perSocket),
      };
      for (const { answer } of held.splice(0)) answer();
    };
    const server = await serve(
      httpServer((request, response) => {
        held.push({
          socket: request.stream?.session ?? request.socket,
          answer: () => fine(request, response),
        });
        if (held.length === 1) void answerWhenQuiet();
      }, options),
    );
    const client = clientOf(server);
    await Promise.all(Array.from({ length: 600 }, (_, index) => client.get(index + 1)));
    expect(most).toEqual({ together, onOne });
    expect(server.connections()).toBeLessThanOrEqual(connections);
  },
);

test.for([
  '522 ',
  '520 Web Server Returned an Unknown Error',
  '425 Too Early',
  '529 Site Overloaded',
  '507 Full',
])('a service behind a CDN that answers %s for a moment is asked again', async (status) => {
  let asked = 0;
  const page = '<html>a page of the CDN</html>';
  const server = await serve(
    rawServer((socket) => {
      asked += 1;
      const [first, body] = asked === 1 ? [status, page] : ['200 OK', content];
      socket.end(
        `HTTP/1.1 ${first}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
      );
    }),
  );
  expect(await clientOf(server).get(1)).toMatchObject({ variant: 'render' });
  expect(asked).toBe(2);
});

test('the first of two Retry-After headers is used', async () => {
  let asked = 0;
  const server = await serve(
    rawServer((socket) => {
      asked += 1;
      socket.end(
        asked === 1
          ? 'HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n'
          : `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(content)}\r\nConnection: close\r\n\r\n${content}`,
      );
    }),
  );
  const notices: unknown[] = [];
  await clientOf(server, { onNotice: (notice) => notices.push(notice) }).get(1);
  expect(notices).toEqual([{ kind: 'held', origin: server.origin, milliseconds: 7_000 }]);
});

describe('interim answers before the final one are passed over', () => {
  const interim = (status: number) => `HTTP/1.1 ${status} Interim\r\nLink: </a>; rel=preload\r\n\r\n`;
  const final = `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`;
  const many = (count: number) => Array.from({ length: count }, () => 100);

  test.for([[103], [100], [100, 103], [103, 100], [102, 100, 199, 100], many(50)])(
    '%j over HTTP/1.1',
    async (statuses) => {
      const server = await serve(
        rawServer((socket) => void socket.write(statuses.map(interim).join('') + final)),
      );
      const client = clientOf(server, { limits: { attempts: 1 } });
      // The second request uses the same connection.
      for (const id of [1, 2]) expect((await client.get(id)).content).toContain('Grüße');
      expect(server.connections()).toBe(1);
    },
  );

  test('cut at any byte', async () => {
    const answer = Buffer.from(interim(100) + interim(103) + interim(100) + final);
    const server = await serve(
      rawServer(async (socket, request) => {
        const [, id] = /snippets\/(\d+)/.exec(request) ?? [];
        socket.setNoDelay(true);
        socket.write(answer.subarray(0, Number(id)));
        await setTimeout(5);
        socket.write(answer.subarray(Number(id)));
      }),
    );
    const client = clientOf(server, { limits: { attempts: 1 } });
    const ids = Array.from({ length: answer.length - 1 }, (_, index) => index + 1);
    await Promise.all(ids.map((id) => client.get(id)));
  });

  test('a body that looks like one stays', async () => {
    const body = interim(100);
    const server = await serve(
      rawServer(async (socket) => {
        socket.write(`${interim(100)}HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`);
        await setTimeout(5);
        socket.write(body);
      }),
    );
    const transport = httpsTransport({ ca: certificate.ca, concurrency: 1, limits: defaultLimits });
    closeAfterwards(transport);
    const request = { url: server.origin, headers: {}, timeout: 10_000 };
    const { body: read } = await transport.send(request, new AbortController().signal);
    expect(Buffer.from(read).toString()).toBe(body);
  });

  test('over HTTP/2', async () => {
    const server = await serve(
      httpServer((request, response) => {
        response.writeContinue();
        response.stream.additionalHeaders({ ':status': 103 });
        response.stream.additionalHeaders({ ':status': 102 });
        fine(request, response);
      }),
    );
    expect((await clientOf(server, { limits: { attempts: 1 } }).get(1)).content).toContain('Grüße');
  });

  test.for([100, 103])('but not an endless series of %i', async (status) => {
    const server = await serve(
      rawServer((socket) => {
        const timer = setInterval(() => socket.write(interim(status).repeat(100)), 1);
        socket.on('close', () => clearInterval(timer));
      }),
    );
    const error = await failureOf(clientOf(server, { limits: { attempts: 1 } }).get(1));
    expect(error).toMatchObject({ code: 'network' });
    expect(error.message).toContain('more than 1000 interim answers');
  });
});

test('each failure tells whether the service could be reached', async () => {
  const transport = httpsTransport({ ca: certificate.ca, concurrency: 1, limits: defaultLimits });
  closeAfterwards(transport);
  const ask = async (host: string) => {
    const request = { url: `https://${host}/`, headers: {}, timeout: 10_000 };
    return transport.send(request, new AbortController().signal).catch((reason: unknown) => reason);
  };
  const closed = await freePort();
  const unreachable = { kind: 'network', isUnreachable: true };
  expect(await ask(`127.0.0.1:${closed}`)).toMatchObject(unreachable);
  // Both IPv4 and IPv6 are tried, and refused.
  expect(await ask(`localhost:${closed}`)).toMatchObject(unreachable);
  expect(await ask('nothing.invalid')).toMatchObject(unreachable);
  const { port } = await serve(rawServer((socket) => socket.destroy()));
  expect(await ask(`localhost:${port}`)).toMatchObject({ kind: 'network', isUnreachable: false });
});

describe('abort and close', () => {
  /** A client of a server that never answers, with a first request that has arrived. */
  async function underWay(options: Partial<SnippetClientOptions> = {}) {
    let arrived = () => {};
    const asked = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const client = clientOf(await serve(rawServer(() => arrived())), options);
    const controller = new AbortController();
    const { signal } = controller;
    const first = failureOf(client.get(1, undefined, { signal }));
    await asked;
    return { client, first, signal, abort: (reason: unknown) => controller.abort(reason) };
  }

  test('an aborted signal ends a request and all later ones', async () => {
    const { client, first, signal, abort } = await underWay();
    abort(new Error('enough'));
    expect(await first).toMatchObject({ code: 'aborted', snippetId: 1, cause: { message: 'enough' } });
    expect(await failureOf(client.get(2, undefined, { signal }))).toMatchObject({ code: 'aborted' });
  });

  test.for([false, true])(
    'an aborted signal ends a queued request (aborted before: %s)',
    async (isBefore) => {
      const { client, first } = await underWay({ concurrency: 1 });
      const controller = new AbortController();
      if (isBefore) controller.abort();
      const queued = failureOf(client.get(2, undefined, { signal: controller.signal }));
      controller.abort();
      expect(await Promise.race([first, queued])).toMatchObject({ code: 'aborted', snippetId: 2 });
      await client.close();
      expect(await first).toMatchObject({ code: 'closed' });
    },
  );

  test('closing the client ends requests in progress and rejects later ones', async () => {
    const { client, first } = await underWay();
    await client.close();
    expect(await first).toMatchObject({ code: 'closed' });
    expect(await failureOf(client.get(2))).toMatchObject({ code: 'closed' });
  });

  test('closing the client closes its connections', async () => {
    let ended: Promise<unknown> | undefined;
    const server = await serve(
      rawServer((socket) => {
        ended = once(socket, 'close');
        const length = Buffer.byteLength(content);
        // Otherwise the connection is kept for longer than a test may take.
        socket.write(
          `HTTP/1.1 200 OK\r\nKeep-Alive: timeout=300\r\nContent-Length: ${length}\r\n\r\n${content}`,
        );
      }),
    );
    const client = clientOf(server);
    await client.get(1);
    await client.close();
    await ended;
  });
});
