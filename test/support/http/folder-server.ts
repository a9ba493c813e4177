import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { type LocalServer, startLocalServer } from './local-server.ts';

export type FolderServer = LocalServer;

const types: Record<string, string> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
};

/** Serves a folder as a static host does, with more headers. The folder need not exist yet. */
export function serveFolder(folder: string, headers: Record<string, string> = {}): Promise<FolderServer> {
  return startLocalServer(async ({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    const name = pathname.endsWith('/') ? `${pathname}index.html` : pathname;
    const bytes = await readFile(join(folder, name)).catch(() => undefined);
    response.writeHead(bytes === undefined ? 404 : 200, {
      'content-type': types[extname(name)] ?? 'application/octet-stream',
      ...headers,
    });
    response.end(bytes);
  });
}
