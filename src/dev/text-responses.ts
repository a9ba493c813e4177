import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FileKind } from '../embed/scan.ts';

/** A complete response of a kind that may contain embeds. */
export interface TextResponse {
  status: number;
  body: Buffer;
  kind: FileKind;
}

/** A request as Vite's middlewares see it. */
export interface DevRequest extends IncomingMessage {
  originalUrl?: string | undefined;
}

type Transform = (response: TextResponse, request: DevRequest) => Promise<TextResponse>;

const contentTypes: Readonly<Record<FileKind, RegExp>> = {
  html: /^(text\/html|application\/xhtml\+xml)\b/i,
  xml: /^((text|application)\/xml|[\w.-]+\/[\w.-]+\+xml)\b/i,
  json: /^(application\/(json|x-ndjson|jsonl)|[\w.-]+\/[\w.-]+\+json)\b/i,
  text: /^text\/(plain|markdown|csv)\b/i,
};

// What Vite serves of itself, and source maps, which are JSON.
const partsOfVite = /\/(?:@(?:vite|id|fs)|node_modules)\/|\.map$/;

/**
 * The kind of a response that may contain embeds; `undefined` for every other. Plain text without a file extension in
 * its URL may be a stream, which must not be buffered.
 */
export function kindOfResponse(contentType: string, path: string): FileKind | undefined {
  if (partsOfVite.test(path)) return undefined;
  const kinds = Object.keys(contentTypes) as FileKind[];
  const kind = kinds.find((name) => contentTypes[name].test(contentType));
  return kind === 'text' && !/\.\w+$/.test(path) ? undefined : kind;
}

/**
 * A middleware that buffers each response that may contain embeds until it is complete, and sends what `transform`
 * makes of it. Every other response is passed on as it comes.
 *
 * It runs before the page is rendered, so it does not matter which runtime renders it.
 */
export function transformTexts(transform: Transform) {
  return (request: DevRequest, response: ServerResponse, next: () => void): void => {
    if (request.method === 'GET') buffer(request, response, transform);
    next();
  };
}

function buffer(request: DevRequest, response: ServerResponse, transform: Transform): void {
  const original = {
    writeHead: response.writeHead.bind(response) as ServerResponse['writeHead'],
    write: response.write.bind(response) as ServerResponse['write'],
    end: response.end.bind(response) as ServerResponse['end'],
  };
  const [path = '/'] = (request.originalUrl ?? '/').split('?');
  const chunks: Buffer[] = [];
  let decided: { kind: FileKind | undefined } | undefined;

  // Decided with the headers or the first byte, whichever comes first.
  const decide = () => {
    decided ??= { kind: kindOfResponse(String(response.getHeader('content-type') ?? ''), path) };
    if (decided.kind === undefined) Object.assign(response, original);
    return decided.kind;
  };

  response.writeHead = ((
    status: number,
    ...rest: (string | OutgoingHttpHeaders | string[] | undefined)[]
  ) => {
    for (const [name, value] of headersOf(rest)) response.setHeader(name, value);
    if (decide() === undefined) {
      const message = rest.find((part) => typeof part === 'string');
      return message === undefined ? original.writeHead(status) : original.writeHead(status, message);
    }
    response.statusCode = status;
    return response;
  }) as ServerResponse['writeHead'];

  response.write = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
    if (decide() === undefined) return original.write(chunk as string, ...(rest as []));
    chunks.push(bytesOf(chunk, [chunk, ...rest]));
    callbackIn(rest)?.();
    return true;
  }) as ServerResponse['write'];

  response.end = ((...rest: unknown[]) => {
    const kind = decide();
    if (kind === undefined) return original.end(...(rest as []));
    if (typeof rest[0] === 'string' || rest[0] instanceof Uint8Array) chunks.push(bytesOf(rest[0], rest));
    Object.assign(response, original);
    transform({ status: response.statusCode, body: Buffer.concat(chunks), kind }, request).then(
      ({ status, body, kind: kindAfter }) => {
        // An error page, whatever was asked for.
        if (kindAfter !== kind) response.setHeader('content-type', 'text/html; charset=utf-8');
        response.removeHeader('etag');
        response.setHeader('content-length', body.length);
        original.writeHead(status);
        original.end(body, callbackIn(rest));
      },
    );
    return response;
  }) as ServerResponse['end'];
}

function* headersOf(parts: readonly unknown[]): Generator<[string, string | string[] | number]> {
  for (const part of parts) {
    if (Array.isArray(part)) {
      for (let index = 0; index + 1 < part.length; index += 2) yield [part[index], part[index + 1]];
    } else if (typeof part === 'object' && part !== null) {
      for (const [name, value] of Object.entries(part)) if (value !== undefined) yield [name, value];
    }
  }
}

function bytesOf(chunk: string | Uint8Array, [, encoding]: readonly unknown[]): Buffer {
  if (typeof chunk !== 'string') return Buffer.from(chunk);
  return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
}

function callbackIn(rest: readonly unknown[]): (() => void) | undefined {
  return rest.find((part) => typeof part === 'function') as (() => void) | undefined;
}
