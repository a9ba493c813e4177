import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** A complete HTML response. */
export interface HtmlResponse {
  status: number;
  html: Buffer;
}

/** A request as Vite's middlewares see it. */
export interface DevRequest extends IncomingMessage {
  originalUrl?: string | undefined;
}

type Transform = (response: HtmlResponse, request: DevRequest) => Promise<HtmlResponse>;

/**
 * A middleware that buffers each HTML response until it is complete, and sends what `transform` makes of it. Every
 * other response is passed on as it comes.
 *
 * It runs before the page is rendered, so it does not matter which runtime renders it.
 */
export function transformHtml(transform: Transform) {
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
  const chunks: Buffer[] = [];
  let isHtml: boolean | undefined;

  // Decided with the headers or the first byte, whichever comes first.
  const decide = () => {
    isHtml ??= /^text\/html\b/i.test(String(response.getHeader('content-type') ?? ''));
    if (!isHtml) Object.assign(response, original);
    return isHtml;
  };

  response.writeHead = ((
    status: number,
    ...rest: (string | OutgoingHttpHeaders | string[] | undefined)[]
  ) => {
    for (const [name, value] of headersOf(rest)) response.setHeader(name, value);
    if (!decide()) {
      const message = rest.find((part) => typeof part === 'string');
      return message === undefined ? original.writeHead(status) : original.writeHead(status, message);
    }
    response.statusCode = status;
    return response;
  }) as ServerResponse['writeHead'];

  response.write = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
    if (!decide()) return original.write(chunk as string, ...(rest as []));
    chunks.push(bytesOf(chunk, [chunk, ...rest]));
    callbackIn(rest)?.();
    return true;
  }) as ServerResponse['write'];

  response.end = ((...rest: unknown[]) => {
    if (!decide()) return original.end(...(rest as []));
    if (typeof rest[0] === 'string' || rest[0] instanceof Uint8Array) chunks.push(bytesOf(rest[0], rest));
    Object.assign(response, original);
    transform({ status: response.statusCode, html: Buffer.concat(chunks) }, request).then(
      ({ status, html }) => {
        response.removeHeader('etag');
        response.setHeader('content-length', html.length);
        original.writeHead(status);
        original.end(html, callbackIn(rest));
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
