import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A stand-in for a CDN, with the API of Cloudflare for purges by URL. */
export interface Cdn {
  /** `http://localhost:…`, for readers and for the API. */
  url: string;
  /** What was purged, a list of URLs for each call. */
  purges: string[][];
  close(): Promise<void>;
}

/**
 * Starts a CDN that keeps each answer until its URL is purged.
 *
 * @param origin asked for what is not kept.
 */
export async function startCdn(origin: () => string): Promise<Cdn> {
  const kept = new Map<string, { status: number; type: string; body: string }>();
  const purges: string[][] = [];
  const server = createServer(async (request, response) => {
    const url = `http://${request.headers.host}${request.url}`;
    if (request.method === 'POST') {
      const { files } = JSON.parse(await text(request)) as { files: string[] };
      purges.push(files);
      for (const file of files) kept.delete(file);
      response.end();
      return;
    }
    const answer = kept.get(url) ?? (await ask(`${origin()}${request.url}`));
    kept.set(url, answer);
    response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    purges,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function ask(url: string) {
  const answer = await fetch(url);
  return {
    status: answer.status,
    type: answer.headers.get('content-type') ?? '',
    body: await answer.text(),
  };
}
