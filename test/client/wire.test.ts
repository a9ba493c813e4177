import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { certificate, httpServer, rawServer, tunnelProxy } from '../support/tls-server.ts';
import { apiKey, clientOf, closeAfterwards, failureOf, serve } from '../support/wire.ts';

const content = JSON.stringify({ content: 'Grüße, <b>& more</b>' });
const fine = (_: Http2ServerRequest, response: Http2ServerResponse) => {
  response.setHeader('content-type', 'application/json');
  response.end(content);
};

/** A script in a folder of its own, which is removed when the test ends. */
async function scriptOf(code: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'snippet-client-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'script.mts');
  await writeFile(file, code);
  return file;
}

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

  test('offers HTTP/2 before HTTP/1.1', async () => {
    const offered: string[][] = [];
    const server = createTlsServer({
      key: certificate.key,
      cert: certificate.cert,
      ALPNCallback({ protocols }) {
        offered.push(protocols);
        return 'http/1.1';
      },
    });
    server.on('secureConnection', (socket) => {
      socket.on('error', () => {});
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closeAfterwards({
      async close() {
        server.close();
      },
    });
    await clientOf({ origin: `https://localhost:${(server.address() as AddressInfo).port}` }).get(1);
    expect(offered).toEqual([['h2', 'http/1.1']]);
  });

  test.for([true, false])(
    'waits while as many as `concurrency` are in progress (HTTP/2: %s)',
    async (http2) => {
      let now = 0;
      let most = 0;
      const server = await serve(
        httpServer(
          (request, response) => {
            most = Math.max(most, ++now);
            void setTimeout(5).then(() => {
              now -= 1;
              fine(request, response);
            });
          },
          { http2 },
        ),
      );
      const client = clientOf(server, { concurrency: 3 });
      await Promise.all(Array.from({ length: 30 }, (_, index) => client.get(index + 1)));
      expect(most).toBe(3);
    },
  );
});

test.for([
  ['HTTP/2', 100, 1],
  ['HTTP/1.1', 20, 20],
] as const)(
  'over %s up to %i requests are made at once, on %i connections',
  async ([version, most, connections]) => {
    let seen = 0;
    const held: (() => void)[] = [];
    // The limit grows with each answer, so there is none before all requests have come that may be under way.
    const answerWhenQuiet = async () => {
      for (let before = 0; before !== held.length; ) {
        before = held.length;
        await setTimeout(20);
        await setImmediate();
      }
      for (const answer of held.splice(0)) answer();
    };
    const server = await serve(
      httpServer(
        (request, response) => {
          seen = Math.max(
            seen,
            held.push(() => fine(request, response)),
          );
          if (held.length === 1) void answerWhenQuiet();
        },
        { http2: version === 'HTTP/2' },
      ),
    );
    const client = clientOf(server);
    await Promise.all(Array.from({ length: 600 }, (_, index) => client.get(index + 1)));
    expect(seen).toBe(most);
    expect(server.connections()).toBe(connections);
  },
);

test('a server that takes 10 streams at once over HTTP/2 gets no more on each of up to 20 connections', async () => {
  const underWay = new Map<unknown, number>();
  let most = 0;
  const server = await serve(
    httpServer(
      (request, response) => {
        const { session } = request.stream;
        const now = (underWay.get(session) ?? 0) + 1;
        underWay.set(session, now);
        most = Math.max(most, now);
        void setTimeout(20).then(() => {
          underWay.set(session, (underWay.get(session) ?? 0) - 1);
          fine(request, response);
        });
      },
      { settings: { maxConcurrentStreams: 10 } },
    ),
  );
  const client = clientOf(server);
  await Promise.all(Array.from({ length: 600 }, (_, index) => client.get(index + 1)));
  expect(most).toBe(10);
  expect(server.connections()).toBeLessThanOrEqual(20);
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

describe('abort and close', () => {
  test('an aborted signal ends a request at once', async () => {
    const server = await serve(rawServer(() => {}));
    const client = clientOf(server);
    const controller = new AbortController();
    const failure = failureOf(client.get(42, undefined, { signal: controller.signal }));
    void setTimeout(50).then(() => controller.abort(new Error('enough')));
    expect(await failure).toMatchObject({ code: 'aborted', snippetId: 42, cause: { message: 'enough' } });
    expect(await failureOf(client.get(43, undefined, { signal: controller.signal }))).toMatchObject({
      code: 'aborted',
    });
  });

  test('an aborted signal ends a queued request', async () => {
    const server = await serve(rawServer(() => {}));
    const client = clientOf(server, { concurrency: 1 });
    const first = failureOf(client.get(1));
    const queued = client.get(2, undefined, { signal: AbortSignal.timeout(50) });
    const winner = await Promise.race([first, failureOf(queued)]);
    expect(winner).toMatchObject({ code: 'aborted', snippetId: 2 });
    await client.close();
    expect(await first).toMatchObject({ code: 'closed' });
  });

  test('closing the client ends requests in progress and rejects later ones', async () => {
    const server = await serve(rawServer(() => {}));
    const client = clientOf(server);
    const failures = [1, 2].map((id) => failureOf(client.get(id)));
    void setTimeout(50).then(() => client.close());
    for (const failure of failures) expect(await failure).toMatchObject({ code: 'closed' });
    expect(await failureOf(client.get(3))).toMatchObject({ code: 'closed' });
  });

  test('a signal that is already aborted ends a request that would be queued', async () => {
    const server = await serve(rawServer(() => {}));
    const client = clientOf(server, { concurrency: 1 });
    const first = failureOf(client.get(1));
    const queued = failureOf(client.get(2, undefined, { signal: AbortSignal.abort() }));
    expect(await Promise.race([first, queued])).toMatchObject({ code: 'aborted', snippetId: 2 });
    await client.close();
    await first;
  });

  test('closing the client closes its connections', async () => {
    let ended: Promise<unknown> | undefined;
    const server = await serve(
      rawServer((socket) => {
        ended = once(socket, 'close');
        const length = Buffer.byteLength(content);
        // Left to itself, the connection is kept for longer than a test may take.
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

  test.for(['directly', 'through a proxy'] as const)(
    'closing a client whose HTTP/2 streams (%s) were aborted or reset does not end the process',
    async (how) => {
      const proxy = how === 'directly' ? undefined : await serve(tunnelProxy());
      let asked = 0;
      const server = await serve(
        httpServer((_, response) => {
          asked += 1;
          response.on('error', () => {});
          if (asked % 4 === 0) return;
          if (asked % 4 === 1) response.write('{"con');
          else if (asked % 4 === 2) response.stream.close(2);
          else void setTimeout(asked % 7).then(() => response.end(content));
        }),
      );
      const script = await scriptOf(
        `import { setTimeout } from 'node:timers/promises';
       import { SnippetClient } from ${JSON.stringify(join(import.meta.dirname, '../../src/client/index.ts'))};
       const options = ${JSON.stringify({ apiKey, renderBaseUrl: server.origin, ca: certificate.ca, concurrency: 100 })};
       for (let round = 0; round < 25; round++) {
         const client = new SnippetClient(options);
         const controller = new AbortController();
         const all = Array.from({ length: 200 }, (_, id) =>
           client.get(id + 1, undefined, { signal: controller.signal }).catch(() => {}));
         await setTimeout(10 + 2 * round);
         controller.abort();
         await setTimeout(50);
         await client.close();
         await Promise.all(all);
       }
       console.log('closed');`,
      );
      const { stdout } = await promisify(execFile)(process.execPath, [script], {
        timeout: 60_000,
        env: { ...process.env, NO_PROXY: '', no_proxy: '', HTTPS_PROXY: proxy?.origin ?? '' },
      });
      expect(stdout.trim()).toBe('closed');
      expect(proxy?.asked.length).not.toBe(0);
    },
  );

  test('answers to HTTP/2 requests that were just aborted do not end the process when the connection is closed while the event loop stands still', async () => {
    const path = (name: string) => JSON.stringify(join(import.meta.dirname, '../..', name));
    // In the process of the client, so that both stand still at the same time.
    const script = await scriptOf(
      `import { setTimeout } from 'node:timers/promises';
       import { defaultLimits } from ${path('src/client/limits.ts')};
       import { openConnections } from ${path('src/client/transport.ts')};
       import { certificate, httpServer } from ${path('test/support/tls-server.ts')};
       let ends = 0;
       process.on('uncaughtException', () => { ends += 1; });
       const server = await httpServer((_, response) => response.end('{}'));
       const connections = openConnections({ ca: certificate.ca, concurrency: 100, limits: defaultLimits });
       const controller = new AbortController();
       await Promise.all(Array.from({ length: 400 }, () =>
         connections.get({ url: server.origin, headers: {}, milliseconds: 60_000 }, controller.signal)
           .then(() => controller.abort(), () => {})));
       // Undici closes a connection that is idle for four seconds.
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6_000);
       await setTimeout(100);
       console.log(ends);
       process.exit();`,
    );
    const { stdout } = await promisify(execFile)(process.execPath, [script], { timeout: 60_000 });
    expect(stdout.trim()).toBe('0');
  });

  test('a closed client does not keep the process alive', async () => {
    const server = await serve(httpServer(fine));
    const script = await scriptOf(
      `import { SnippetClient } from ${JSON.stringify(join(import.meta.dirname, '../../src/client/index.ts'))};
       const client = new SnippetClient(${JSON.stringify({ apiKey, renderBaseUrl: server.origin, ca: certificate.ca })});
       await client.get(1);
       await client.close();
       const closed = performance.now();
       // Left to itself, a connection is kept for four seconds.
       process.on('exit', () => console.log(performance.now() - closed < 3_000 ? 'ended' : 'kept alive'));`,
    );
    const { stdout } = await promisify(execFile)(process.execPath, [script], { timeout: 60_000 });
    expect(stdout.trim()).toBe('ended');
  });
});

test('a host that NO_PROXY excepts is reached directly, with the certificates of `ca` and no others', async () => {
  const server = await serve(httpServer(fine));
  vi.stubEnv('HTTPS_PROXY', 'http://127.0.0.1:1');
  vi.stubEnv('NO_PROXY', 'localhost');
  vi.stubEnv('no_proxy', undefined);
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  expect(await clientOf(server).get(42)).toMatchObject({ variant: 'render' });
  expect(await failureOf(clientOf(server, { ca: undefined }).get(42))).toMatchObject({ code: 'certificate' });
});

test.for(['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'])(
  'the proxy in %s is used for tunnels and never receives the API key',
  async (variable) => {
    const server = await serve(httpServer(fine));
    const proxy = await serve(tunnelProxy());
    vi.stubEnv('NO_PROXY', '');
    vi.stubEnv('no_proxy', '');
    for (const name of ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'])
      vi.stubEnv(name, undefined);
    vi.stubEnv(variable, proxy.origin);
    expect(await clientOf(server).get(42)).toMatchObject({ variant: 'render' });
    expect(proxy.asked).toEqual([`localhost:${server.port} no key`]);

    const untrusting = clientOf(server, { ca: undefined });
    expect(await failureOf(untrusting.get(42))).toMatchObject({ code: 'certificate' });
  },
);
