import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Connect, ViteDevServer } from 'vite';
import type { FileKind } from '../embed/found-embed.ts';
import { openInlineView, type ServedSite } from './inline-view.ts';
import { holdRequestLog } from './request-log.ts';
import type { SnippetMemory } from './snippet-memory.ts';

const kindsByContentType: readonly [kind: FileKind, types: RegExp][] = [
  ['html', /^(text\/html|application\/xhtml\+xml)\b/i],
  ['xml', /^((text|application)\/xml|[\w.-]+\/[\w.-]+\+xml)\b/i],
  ['json', /^(application\/(json|x-ndjson|jsonl)|[\w.-]+\/[\w.-]+\+json)\b/i],
  ['text', /^text\/(plain|markdown|csv)\b/i],
];

// Of Vite itself, and source maps, which are JSON.
const partsOfVite = /\/(?:@(?:vite|id|fs)|node_modules)\/|\.map$/;

/** Inlines snippets in complete responses, whichever runtime renders them. */
export function serveText(
  run: ServedSite,
  server: ViteDevServer,
  memory: SnippetMemory,
): Connect.NextHandleFunction {
  const { logger } = run.site;
  const inline = openInlineView(run, server, memory);
  const responses = holdRequestLog(logger);
  const encoded = new Set<string>();
  return ({ originalUrl = '/', method, headers }, response, next) => {
    const [path = '/'] = originalUrl.split('?');
    if (method !== 'GET' || partsOfVite.test(path)) return next();
    const isFetched = headers['sec-fetch-dest'] === 'empty';
    const { writeHead, write, end } = response;
    const text = new PassThrough();
    let isBuffered: boolean | undefined;

    const send = async (kind: FileKind) => {
      const sent = await inline(path, kind, await buffer(text), isFetched);
      Object.assign(response, { writeHead, write, end });
      if (typeof sent === 'string') {
        response.statusCode = 500;
        response.setHeader('content-type', 'text/html; charset=utf-8');
      }
      response.removeHeader('etag');
      response.setHeader('content-length', Buffer.byteLength(sent));
      response.end(sent);
    };
    // Decided with the headers or the first byte, whichever comes first.
    const decide = () => {
      const type = String(response.getHeader('content-type') ?? '');
      const [found] = kindsByContentType.find(([, types]) => types.test(type)) ?? [];
      // Plain text without a file extension in its URL may be a stream, which cannot wait.
      const kind = found === 'text' && !/\.\w+$/.test(path) ? undefined : found;
      const encoding = String(response.getHeader('content-encoding') ?? 'identity');
      if (kind && encoding === 'identity') {
        send(kind).catch((error) => response.destroy(error));
        return true;
      }
      Object.assign(response, { writeHead, write, end });
      if (kind && !encoded.has(path)) {
        encoded.add(path);
        logger.warn(
          `${path} is sent with the content encoding ${encoding}, so it is left as it is, without its snippets. Compress responses only where the site is deployed.`,
        );
      }
      return false;
    };

    const take = (part: 'write' | 'end', rest: [string]) => {
      isBuffered ??= decide();
      if (!isBuffered) return response[part](...rest);
      text[part](...rest);
      // The writer need not wait.
      return part === 'write' || response;
    };
    Object.assign(response, {
      writeHead(status: number, ...rest: unknown[]) {
        const given = rest.find((part) => typeof part === 'object') ?? {};
        const list = Array.isArray(given) ? given : Object.entries(given).flat();
        for (let at = 0; at < list.length; at += 2) response.setHeader(list[at], list[at + 1]);
        isBuffered ??= decide();
        if (!isBuffered)
          return response.writeHead(status, ...rest.filter((part) => typeof part === 'string'));
        response.statusCode = status;
        return response;
      },
      write: (...rest: [string]) => take('write', rest),
      end: (...rest: [string]) => take('end', rest),
    });
    responses.run(response, next);
  };
}
