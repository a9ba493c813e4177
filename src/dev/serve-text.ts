import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Connect, ViteDevServer } from 'vite';
import type { FileKind } from '../embed/found-embed.ts';
import { fileKind } from '../files/file-kind.ts';
import type { SnippetSession } from '../integration/snippet-session.ts';
import { type InlinedView, InlineView } from './inline-view.ts';
import { holdRequestLog } from './request-log.ts';
import type { SnippetMemory } from './snippet-memory.ts';

/**
 * The kinds of text that are searched for embeds, by content type (files/file-kind.ts has them by extension).
 * A response with another type passes through unchanged.
 */
const kindsByContentType: readonly [kind: FileKind, types: RegExp][] = [
  ['html', /^(text\/html|application\/xhtml\+xml)\b/i],
  ['xml', /^((text|application)\/xml|[\w.-]+\/[\w.-]+\+xml)\b/i],
  ['json', /^(application\/(json|x-ndjson|jsonl)|[\w.-]+\/[\w.-]+\+json)\b/i],
  ['text', /^text\/(plain|markdown)\b/i],
  // Scripts and styles are no text of the site, and a stream of events has no end.
  ['other', /^(text\/(?!css|javascript|event-stream)|application\/(\S+\+)?(x-)?(yaml|toml|graphql)\b)/i],
];

/** URLs of Vite's own modules and of source maps, which pass through: they hold no content of the site. */
const viteUrls = /\/(?:@(?:vite|id|fs)|node_modules)\/|\.map$/;

/**
 * Makes the middleware that inlines snippets into responses, whether Node or another runtime renders them.
 *
 * A response that may hold embeds is buffered, since an embed may be cut anywhere between two writes, and is
 * sent when it is complete. Everything else passes through as it is written: other content types, encoded
 * responses, and plain text that may be a stream.
 */
export function serveText(
  session: SnippetSession,
  server: ViteDevServer,
  memory: SnippetMemory,
): Connect.NextHandleFunction {
  const { logger } = session.site;
  const view = new InlineView(session, server, memory);
  const requestScope = holdRequestLog(logger);
  const warnedPaths = new Set<string>();
  const warnOfEncoding = (path: string, encoding: string) => {
    if (warnedPaths.has(path)) return;
    warnedPaths.add(path);
    logger.warn(
      `${path} is sent with the content encoding ${encoding}, so it is left as it is, without its snippets. Compress responses only where the site is deployed.`,
    );
  };

  return ({ originalUrl = '/', method, headers }, response, next) => {
    const [path = '/'] = originalUrl.split('?');
    if (method !== 'GET' || viteUrls.test(path)) return next();

    const isFetched = headers['sec-fetch-dest'] === 'empty';
    new HeldResponse(response, path, {
      inline: (kind, bytes) => view.inline({ path, kind, bytes, isFetched }),
      warnOfEncoding: (encoding) => warnOfEncoding(path, encoding),
    });
    requestScope.run(response, next);
  };
}

interface HeldResponseParts {
  /** Inlines snippets into the complete response. */
  inline(kind: FileKind, bytes: Buffer): Promise<InlinedView>;
  /** Called for text that is not inlined because of its content encoding. */
  warnOfEncoding(encoding: string): void;
}

/**
 * A response whose methods are replaced until its kind of text is known and, if it is buffered, until it is
 * complete. The kind is known with the headers or the first byte, whichever comes first.
 */
class HeldResponse {
  readonly #response: ServerResponse;
  readonly #path: string;
  readonly #parts: HeldResponseParts;
  /** The original methods of the response, which are put back later. */
  readonly #methods: Pick<ServerResponse, 'writeHead' | 'write' | 'end'>;
  readonly #buffered = new PassThrough();
  /** Whether the response is buffered; `undefined` until its kind is known. */
  #isBuffered: boolean | undefined;

  constructor(response: ServerResponse, path: string, parts: HeldResponseParts) {
    const { writeHead, write, end } = response;
    this.#response = response;
    this.#path = path;
    this.#parts = parts;
    this.#methods = { writeHead, write, end };
    Object.assign(response, {
      writeHead: (status: number, ...rest: unknown[]) => this.#writeHead(status, rest),
      write: (...rest: [string]) => this.#write(rest),
      end: (...rest: [string]) => this.#end(rest),
    });
  }

  /** Sets the headers one by one, as those passed to Node's `writeHead` cannot be read or changed later. */
  #writeHead(status: number, rest: unknown[]): ServerResponse {
    const headers = rest.find((part) => typeof part === 'object') ?? {};
    // Node takes the headers as an object, or as an array in which names and values alternate.
    const list = Array.isArray(headers) ? headers : Object.entries(headers).flat();
    for (let index = 0; index < list.length; index += 2) {
      this.#response.setHeader(list[index], list[index + 1]);
    }
    this.#isBuffered ??= this.#startBuffering();
    const message = rest.filter((part) => typeof part === 'string');
    if (!this.#isBuffered) return this.#response.writeHead(status, ...message);
    this.#response.statusCode = status;
    return this.#response;
  }

  #write(rest: [string]): boolean {
    this.#isBuffered ??= this.#startBuffering();
    if (!this.#isBuffered) return this.#response.write(...rest);
    this.#buffered.write(...rest);
    // The buffer takes any amount, so `true` tells the writer not to wait for `drain`.
    return true;
  }

  #end(rest: [string]): ServerResponse {
    this.#isBuffered ??= this.#startBuffering();
    if (!this.#isBuffered) return this.#response.end(...rest);
    this.#buffered.end(...rest);
    return this.#response;
  }

  /** Begins to buffer a response that may hold embeds. @returns `false` for one that passes through */
  #startBuffering(): boolean {
    const kind = this.#kind();
    const encoding = String(this.#response.getHeader('content-encoding') ?? 'identity');
    if (!kind || encoding !== 'identity') {
      this.#restoreMethods();
      if (kind) this.#parts.warnOfEncoding(encoding);
      return false;
    }
    this.#sendInlined(kind).catch((error) => this.#response.destroy(error));
    return true;
  }

  /** The kind of a response that may hold embeds, by its content type. */
  #kind(): FileKind | undefined {
    const type = String(this.#response.getHeader('content-type') ?? '');
    const [typeKind] = kindsByContentType.find(([, types]) => types.test(type)) ?? [];
    // A build knows the extension alone. Many endpoints send formats of their own as plain text.
    const isOther = typeKind === 'text' && /\.\w+$/.test(this.#path) && fileKind(this.#path) === 'other';
    const kind = isOther ? 'other' : typeKind;
    // Plain text without a file extension in its URL may be a stream, which cannot wait until it is complete.
    const mayBeStream = kind === 'text' && !/\.\w+$/.test(this.#path);
    return mayBeStream ? undefined : kind;
  }

  /** Waits until the response is complete, and sends it with its snippets. */
  async #sendInlined(kind: FileKind): Promise<void> {
    const view = await this.#parts.inline(kind, await buffer(this.#buffered));
    const response = this.#response;
    this.#restoreMethods();

    if (view.kind === 'error-page') {
      response.statusCode = 500;
      response.setHeader('content-type', 'text/html; charset=utf-8');
    }
    const body = view.kind === 'error-page' ? view.html : view.bytes;
    // The ETag is removed: it was made from the response without its snippets.
    response.removeHeader('etag');
    response.setHeader('content-length', Buffer.byteLength(body));
    response.end(body);
  }

  #restoreMethods(): void {
    Object.assign(this.#response, this.#methods);
  }
}
