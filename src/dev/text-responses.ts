import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { styleText } from 'node:util';
import type { AstroIntegrationLogger } from 'astro';
import type { FileKind } from '../embed/scan.ts';

export interface TextResponse {
  status: number;
  body: Buffer;
  kind: FileKind;
}

export type DevRequest = IncomingMessage & { originalUrl?: string | undefined };

type Transform = (response: TextResponse, request: DevRequest) => Promise<TextResponse>;

const contentTypes: readonly [kind: FileKind, types: RegExp][] = [
  ['html', /^(text\/html|application\/xhtml\+xml)\b/i],
  ['xml', /^((text|application)\/xml|[\w.-]+\/[\w.-]+\+xml)\b/i],
  ['json', /^(application\/(json|x-ndjson|jsonl)|[\w.-]+\/[\w.-]+\+json)\b/i],
  ['text', /^text\/(plain|markdown|csv)\b/i],
];

// What Vite serves of itself, and source maps, which are JSON.
const partsOfVite = /\/(?:@(?:vite|id|fs)|node_modules)\/|\.map$/;

/**
 * A middleware that sends what `transform` makes of each response that may contain embeds, once it is complete. It runs
 * before the page is rendered, so it does not matter which runtime renders it.
 */
export function transformTexts(transform: Transform, logger: AstroIntegrationLogger) {
  const responses = correctStatus(logger);
  const encoded = new Set<string>();
  return (request: DevRequest, response: ServerResponse, next: () => void) => {
    const [path = '/'] = (request.originalUrl ?? '/').split('?');
    if (request.method !== 'GET' || partsOfVite.test(path)) return next();
    const { writeHead, write, end } = response;
    const text = new PassThrough();
    let isBuffered: boolean | undefined;

    const send = async (kind: FileKind) => {
      const body = await buffer(text);
      const sent = await transform({ status: response.statusCode, body, kind }, request);
      Object.assign(response, { writeHead, write, end });
      // An error page, whatever was asked for.
      if (sent.kind !== kind) response.setHeader('content-type', 'text/html; charset=utf-8');
      response.removeHeader('etag');
      response.writeHead(sent.status, { 'content-length': sent.body.length }).end(sent.body);
    };
    // Decided with the headers or the first byte, whichever comes first.
    const decide = (): boolean => {
      const type = String(response.getHeader('content-type') ?? '');
      const [found] = contentTypes.find(([, types]) => types.test(type)) ?? [];
      // Plain text without a file extension in its URL may be a stream, which must not be buffered.
      const kind = found === 'text' && !/\.\w+$/.test(path) ? undefined : found;
      const encoding = String(response.getHeader('content-encoding') ?? 'identity');
      if (kind !== undefined && encoding === 'identity') {
        send(kind).catch((error) => response.destroy(error));
        return true;
      }
      Object.assign(response, { writeHead, write, end });
      if (kind === undefined || encoded.has(path)) return false;
      encoded.add(path);
      logger.warn(
        `${path} is sent with the content encoding ${encoding}, so it is left as it is, without its snippets. Compress responses only where the site is deployed.`,
      );
      return false;
    };

    response.writeHead = ((status: number, ...rest: unknown[]) => {
      const given = rest.find((part) => typeof part === 'object') ?? {};
      const headers = Array.isArray(given) ? given : Object.entries(given).flat();
      for (let at = 0; at < headers.length; at += 2) response.setHeader(headers[at], headers[at + 1]);
      isBuffered ??= decide();
      if (!isBuffered) return response.writeHead(status, ...rest.filter((part) => typeof part === 'string'));
      response.statusCode = status;
      return response;
    }) as ServerResponse['writeHead'];
    const pass = (method: 'write' | 'end') =>
      ((...rest: [string]) => {
        isBuffered ??= decide();
        if (!isBuffered) return response[method](...rest);
        text[method](...rest);
        // The writer need not wait: all of it is kept.
        return method === 'write' || response;
      }) as ServerResponse['write'] & ServerResponse['end'];
    response.write = pass('write');
    response.end = pass('end');
    responses.run(response, next);
  };
}

type LogDestination = { write(event: { message: string }): void };

/** Holds back the line that Astro logs of a request until it is known whether an error page was sent. */
function correctStatus(logger: AstroIntegrationLogger): AsyncLocalStorage<ServerResponse> {
  const responses = new AsyncLocalStorage<ServerResponse>();
  // Before Astro 7, it is `dest`.
  const { dest, destination = dest } = logger.options as object as Record<string, LogDestination>;
  if (destination === undefined) return responses;
  const write = destination.write.bind(destination);
  destination.write = (event) => {
    const response = responses.getStore();
    const status = /^\S*\[\d{3}\]/;
    if (response === undefined || response.closed || !status.test(event.message)) return write(event);
    response.once('close', () => {
      const sent = styleText('red', `[${response.statusCode}]`);
      const message = response.statusCode === 500 ? event.message.replace(status, sent) : event.message;
      write({ ...event, message });
    });
  };
  return responses;
}
