import { containsKnownKey } from '../text/known-keys.ts';
import { checkApiKey } from './api-key.ts';
import { parseBaseUrl, snippetUrl } from './base-url.ts';
import { type Clock, systemClock } from './clock.ts';
import { defaultPatience, type Limits, type PublicLimits, publicLimits, withDefaults } from './limits.ts';
import { nodeFlaw } from './node-version.ts';
import { invalidParams, type Params } from './params.ts';
import { describeAttempt, readFailure, readResponse } from './read-response.ts';
import { Endpoint } from './scheduling/endpoint.ts';
import type { Counts, Notice } from './scheduling/notice.ts';
import { Scheduler } from './scheduling/scheduler.ts';
import { SnippetError } from './snippet-error.ts';
import { createRequest, type SnippetRequest } from './snippet-request.ts';
import { httpsTransport } from './transport/https.ts';
import type { Transport } from './transport/transport.ts';
import type { RenderedSnippet, RetrievedSnippet, Variant } from './variants.ts';

export interface SnippetClientOptions {
  /** The organization's API key (specification, section 5), sent as a bearer credential with every request. */
  apiKey: string;
  /** Base URL for rendering, with its path prefix. One of the two is required. */
  renderBaseUrl?: string | undefined;
  /** Base URL for retrieving, with its path prefix. */
  retrieveBaseUrl?: string | undefined;
  /** Certificates (PEM) of authorities to trust in addition to Node's. */
  ca?: string | readonly string[] | undefined;
  /**
   * The most requests at once. A client starts with 20, and makes more while the service keeps up; over HTTP/1.1 it stays
   * at 20. @default 100
   */
  concurrency?: number | undefined;
  /**
   * How long a service that gives no answer is tried, in milliseconds; at most 30,000 if its port refuses or its name does
   * not resolve from the start. With 0, a snippet is given up after `limits.attempts`. @default 60_000
   */
  patience?: number | undefined;
  /** How long to try to fetch one snippet. */
  limits?: Partial<PublicLimits> | undefined;
  /** Called when the service asks to wait, is down or recovers, or rendering is given up. What it throws is ignored. */
  onNotice?: ((notice: Notice) => void) | undefined;
}

export interface ClientParts {
  clock?: Clock;
  transport?: Transport;
  limits?: Partial<Limits>;
}

export interface RequestOptions {
  /** Aborts the request. The promise then rejects with a SnippetError `aborted`. */
  signal?: AbortSignal | undefined;
}

/** The content of a snippet, and where it came from. */
export interface Snippet extends RenderedSnippet {
  variant: Variant;
  /** Only of a retrieved snippet. */
  name?: string | undefined;
  /** From the first request to the last byte, including waits. */
  milliseconds: number;
}

/**
 * A client for the Snippet Delivery Service. It keeps its connections, and what it learns about the service, until it is
 * closed. Every failure is a {@link SnippetError}, which never contains the key.
 *
 * @example
 * const client = new SnippetClient({ apiKey, renderBaseUrl, retrieveBaseUrl });
 * const { content } = await client.get(42, { plan: 'pro' });
 * await client.close();
 */
export class SnippetClient {
  readonly #endpoints: readonly Endpoint[];
  readonly #scheduler: Scheduler;
  readonly #limits: Limits;
  readonly #transport: Transport;

  /** @throws SnippetError `unsupported-node`, or `invalid-options`. A malformed key is rejected without being shown. */
  constructor(options: SnippetClientOptions);
  /** @internal */
  constructor(options: SnippetClientOptions, parts: ClientParts);
  constructor(options: SnippetClientOptions, { clock = systemClock, transport, limits }: ClientParts = {}) {
    const flaw = nodeFlaw();
    if (flaw) throw new SnippetError('unsupported-node', flaw);
    const invalid = (reason: string) => new SnippetError('invalid-options', reason);
    const { concurrency = 100, patience = defaultPatience, onNotice = () => {} } = options;
    const names: readonly string[] = publicLimits;
    const unknown = Object.keys(options.limits ?? {}).find((name) => !names.includes(name));
    if (unknown !== undefined) {
      throw invalid(`limits.${unknown} is not a limit. There are ${names.join(', ')}.`);
    }
    const apiKey = checkApiKey(options.apiKey);
    if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
      throw invalid('concurrency must be a positive whole number.');
    }
    if (!(patience >= 0)) throw invalid('patience must not be negative.');
    this.#limits = withDefaults({ ...options.limits, ...limits });
    this.#endpoints = (['render', 'retrieve'] as const).flatMap((variant) => {
      const name = `${variant}BaseUrl` as const;
      const value = options[name];
      return value === undefined ? [] : new Endpoint(variant, parseBaseUrl(name, value), this.#limits);
    });
    if (this.#endpoints.length === 0) throw invalid('Set renderBaseUrl, retrieveBaseUrl, or both.');
    const headers = {
      authorization: `Bearer ${apiKey}`,
      accept: 'application/json, application/problem+json',
    };
    this.#transport = transport ?? httpsTransport({ ca: options.ca, concurrency, limits: this.#limits });
    this.#scheduler = new Scheduler({
      endpoints: this.#endpoints,
      clock,
      limits: this.#limits,
      patience,
      maxConcurrency: () => Math.min(concurrency, this.#transport.capacity),
      ask: async ({ request, endpoint: { base, variant }, milliseconds }, signal) => {
        const url = snippetUrl(base, variant, request);
        try {
          const answer = await this.#transport.send({ url, headers, milliseconds }, signal);
          return readResponse(answer, variant, request.id, clock.now());
        } catch (error) {
          signal.throwIfAborted();
          return readFailure(error);
        }
      },
      notify(notice) {
        try {
          onNotice(notice);
        } catch {
          // No snippet fails because of it.
        }
      },
    });
  }

  get counts(): Readonly<Counts> {
    return { ...this.#scheduler.counts };
  }

  /** @internal See {@link Scheduler.routeMissing}. */
  get routeMissing() {
    return this.#scheduler.routeMissing;
  }

  /**
   * Renders a snippet: variant B (specification, section 4.2).
   *
   * @param id a positive integer.
   * @param params variables for the snippet. The service ignores those it does not use.
   * @throws SnippetError
   */
  async render(id: number, params?: Params, { signal }: RequestOptions = {}): Promise<RenderedSnippet> {
    const { content } = await this.fetch(createRequest(id, params), signal, 'render');
    return { content };
  }

  /** Retrieves a snippet: variant A (specification, section 4.1). @throws SnippetError */
  async retrieve(id: number, params?: Params, { signal }: RequestOptions = {}): Promise<RetrievedSnippet> {
    const request = createRequest(id, params);
    const { milliseconds: _, variant: __, ...snippet } = await this.fetch(request, signal, 'retrieve');
    return { id, ...snippet };
  }

  /** Renders a snippet; or retrieves it, if rendering has no base URL or route, or keeps failing. @throws SnippetError */
  async get(id: number, params?: Params, { signal }: RequestOptions = {}): Promise<Snippet> {
    return this.fetch(createRequest(id, params), signal);
  }

  /** @internal @param only the one variant to ask. From variant A, `content` may be missing. */
  async fetch(request: SnippetRequest, signal?: AbortSignal, only?: Variant) {
    const endpoints = this.#endpoints.filter(({ variant }) => variant === (only ?? variant));
    if (endpoints.length === 0) throw new SnippetError('invalid-options', `${only}BaseUrl is not set.`);
    const { id: snippetId, params = '' } = request;
    // Those of a manifest were checked in another process.
    if (containsKnownKey(params)) throw invalidParams('its params contain the API key.', snippetId);
    const { urlLength } = this.#limits;
    for (const { base, variant } of endpoints) {
      const { length } = snippetUrl(base, variant, request);
      const flaw = `its params make a URL of ${length} characters; the limit is ${urlLength}.`;
      if (length > urlLength) throw invalidParams(flaw, snippetId);
    }
    try {
      const { attempts, ...snippet } = await this.#scheduler.fetch(request, endpoints, signal);
      if (!only && snippet.content === undefined) {
        const fields = { snippetId, variant: snippet.variant, attempts, status: 200 };
        throw new SnippetError('no-content', describeAttempt({ code: 'no-content' }), fields);
      }
      return snippet as Snippet;
    } catch (error) {
      if (error instanceof SnippetError || !signal?.aborted) throw error;
      throw new SnippetError('aborted', 'the request was aborted.', { snippetId, cause: signal.reason });
    }
  }

  /** Closes the connections. Requests in progress reject with `closed`. */
  async close(): Promise<void> {
    this.#scheduler.end(new SnippetError('closed', 'The client was closed.'));
    await this.#transport.close();
  }
}
