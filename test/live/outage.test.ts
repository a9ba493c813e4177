import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { createLiveLoader } from '../../src/live/create-live-loader.ts';
import { certificate, httpServer } from '../support/http/tls-server.ts';
import { apiKey, closeAfterwards, serve } from '../support/http/wire.ts';

/** A way to the service that a test can end and open again, at the same port. */
class Way {
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  #server: Server;
  #port = 0;

  constructor(target: number) {
    this.#target = target;
    this.#server = createServer();
  }

  get origin(): string {
    return `https://localhost:${this.#port}`;
  }

  /** @param isSilent whether connections are accepted, and nothing is ever sent */
  async open(isSilent = false): Promise<void> {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket.on('error', () => {}));
      if (isSilent) return;
      const upstream = connect(this.#target, '127.0.0.1').on('error', () => {});
      this.#sockets.add(upstream);
      socket.pipe(upstream).pipe(socket);
    });
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, 'close');
  }
}

const timeout = 1_000;

test.for([
  ['is gone', false],
  ['is silent', true],
] as const)(
  'a service that %s is an error within the timeout, and its content is back soon after it is',
  async ([_what, isSilent]) => {
    let content = 'first';
    const service = await serve(
      httpServer((_request, response) => {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ content }));
      }),
    );
    const way = new Way(service.port);
    closeAfterwards(way);
    await way.open();
    const warnings: string[] = [];
    const loaderFor = (maxAge?: string) =>
      createLiveLoader(
        { timeout: `${timeout}ms`, maxAge, ca: certificate.ca, renderBaseUrl: way.origin },
        {
          readVariable: (name) => (name === 'SNIPPETS_API_KEY' ? apiKey : undefined),
          urls: { base: '/', trailingSlash: 'ignore' },
          warn: (line) => warnings.push(line),
        },
      );
    const plain = loaderFor();
    const remembering = loaderFor('10m');
    const ask = async (loader: typeof plain, id: number) => {
      const start = performance.now();
      const found = await loader.loadEntry({ filter: { id }, collection: 'snippets' });
      expect(performance.now() - start).toBeLessThan(timeout + 2_000);
      if (found && 'error' in found) return found.error.code;
      return found?.data.content;
    };
    const readers = (loader: typeof plain) => Promise.all([1, 2, 3, 1, 2, 3].map((id) => ask(loader, id)));

    const all = (answer: string) => Array.from({ length: 6 }, () => answer);
    expect(await readers(plain)).toEqual(all('first'));
    expect(await readers(remembering)).toEqual(all('first'));
    content = 'second';
    await way.close();
    if (isSilent) await way.open(true);
    await setTimeout(1_100);

    for (let time = 0; time < 3; time += 1) {
      for (const code of await readers(plain)) expect(code).toMatch(/^(?:network|timeout|unavailable)$/);
      expect(await readers(remembering)).toEqual(all('first'));
      await setTimeout(300);
    }
    expect(warnings).toEqual([expect.stringContaining('The last content is shown meanwhile.')]);

    await way.close();
    await way.open();
    await vi.waitFor(async () => expect(await readers(plain)).toEqual(all('second')), 20_000);
    await vi.waitFor(async () => expect(await readers(remembering)).toEqual(all('second')), 20_000);
  },
);
