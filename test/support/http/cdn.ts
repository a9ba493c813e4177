import { text } from 'node:stream/consumers';
import { type LocalServer, startLocalServer } from './local-server.ts';

/** A stand-in for a CDN, with Cloudflare's API for purging URLs. */
export interface Cdn extends LocalServer {
  /** The purged URLs, a list per call. */
  purges: string[][];
}

/**
 * Starts a CDN that caches each answer until its URL is purged.
 *
 * @param origin the host that is asked for what is not cached.
 */
export async function startCdn(origin: () => string): Promise<Cdn> {
  const cache = new Map<string, { status: number; type: string; body: string }>();
  const purges: string[][] = [];
  const server = await startLocalServer(async (request, response) => {
    const url = `http://${request.headers.host}${request.url}`;
    if (request.method === 'POST') {
      const { files } = JSON.parse(await text(request)) as { files: string[] };
      purges.push(files);
      for (const file of files) cache.delete(file);
      response.end();
      return;
    }
    const answer = cache.get(url) ?? (await ask(`${origin()}${request.url}`));
    cache.set(url, answer);
    response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.body);
  });
  return { ...server, purges };
}

async function ask(url: string) {
  const answer = await fetch(url);
  return {
    status: answer.status,
    type: answer.headers.get('content-type') ?? '',
    body: await answer.text(),
  };
}
