import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { AstroIntegrationLogger } from 'astro';
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
export function transformTexts(transform: Transform, logger: AstroIntegrationLogger) {
  const handleWithLine = holdRequestLines(logger);
  const encoded = new Set<string>();
  const onEncoded = (path: string, encoding: string) => {
    if (encoded.has(path)) return;
    encoded.add(path);
    logger.warn(
      `${path} is sent with the content encoding ${encoding}, so it is left as it is, without its snippets. Compress responses only where the site is deployed.`,
    );
  };
  return (request: DevRequest, response: ServerResponse, next: () => void) => {
    if (request.method !== 'GET') return next();
    handleWithLine((log) => {
      buffer(request, response, { transform, onEncoded, log });
      next();
    });
  };
}

interface LogEvent {
  message: string;
}

interface LogDestination {
  write(event: LogEvent): void;
}

/** Logs what was held back of a request, with the status of its response. */
type LogRequest = (status: number) => void;

// As Astro writes it: in blue if it is a success, or in red.
const statusPattern = /\[\d{3}\]/;

/**
 * Holds back the line that Astro logs of a request: it has the status of the page before its snippets are inlined.
 *
 * @returns a function that calls the handler of a request.
 */
function holdRequestLines(logger: AstroIntegrationLogger): (handle: (log: LogRequest) => void) => void {
  const requests = new AsyncLocalStorage<{ held: LogEvent | undefined; isSent: boolean }>();
  // Before Astro 7, it is `dest`.
  const options = logger.options as { destination?: LogDestination; dest?: LogDestination };
  const destination = options.destination ?? options.dest;
  const write = destination?.write.bind(destination);
  if (destination !== undefined) {
    destination.write = (event) => {
      const request = requests.getStore();
      if (request === undefined || request.isSent || !statusPattern.test(event.message)) write?.(event);
      else request.held = event;
    };
  }
  return (handle) => {
    const request: { held: LogEvent | undefined; isSent: boolean } = { held: undefined, isSent: false };
    const log = (status: number) => {
      request.isSent = true;
      const { held } = request;
      if (held === undefined) return;
      const message = held.message.includes(`[${status}]`)
        ? held.message
        : held.message.replace('34m[', '31m[').replace(statusPattern, `[${status}]`);
      write?.({ ...held, message });
    };
    requests.run(request, handle, log);
  };
}

interface Buffering {
  transform: Transform;
  onEncoded(path: string, encoding: string): void;
  log: LogRequest;
}

function buffer(
  request: DevRequest,
  response: ServerResponse,
  { transform, onEncoded, log }: Buffering,
): void {
  const original = {
    writeHead: response.writeHead.bind(response) as ServerResponse['writeHead'],
    write: response.write.bind(response) as ServerResponse['write'],
    end: response.end.bind(response) as ServerResponse['end'],
  };
  const [path = '/'] = (request.originalUrl ?? '/').split('?');
  const chunks: Buffer[] = [];
  let decided: { kind: FileKind | undefined } | undefined;

  // Decided with the headers or the first byte, whichever comes first.
  const decide = (status = response.statusCode) => {
    if (decided !== undefined) return decided.kind;
    decided = { kind: kindOfResponse(String(response.getHeader('content-type') ?? ''), path) };
    const encoding = String(response.getHeader('content-encoding') ?? 'identity');
    if (decided.kind !== undefined && encoding !== 'identity') {
      onEncoded(path, encoding);
      decided.kind = undefined;
    }
    if (decided.kind === undefined) {
      Object.assign(response, original);
      log(status);
    }
    return decided.kind;
  };

  response.writeHead = ((
    status: number,
    ...rest: (string | OutgoingHttpHeaders | string[] | undefined)[]
  ) => {
    for (const [name, value] of headersOf(rest)) response.setHeader(name, value);
    if (decide(status) === undefined) {
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
        log(status);
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
