import pLimit from 'p-limit';
import type { Dispatcher } from 'undici';
import { type RenderedSnippet, type RetrievedSnippet, readRendered, readRetrieved } from './answer.ts';
import { checkApiKey } from './check-api-key.ts';
import { cleanText } from './clean-text.ts';
import { type Clock, systemClock, unlessAborted } from './clock.ts';
import {
  type Connection,
  type Endpoint,
  type FetchPlan,
  type FetchResult,
  fetchSnippet,
} from './fetch-snippet.ts';
import { containsKnownKey, protectKey } from './known-keys.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { type Notice, OriginGate } from './origin-gate.ts';
import { parseBaseUrl, snippetUrl, type Variant } from './service-url.ts';
import { SnippetError } from './snippet-error.ts';
import type { SnippetRequest } from './snippet-request.ts';
import { createDispatcher } from './transport.ts';

export interface ServiceOptions {
  /** The organization's API key (specification, section 5), sent as a bearer credential with every request. */
  apiKey: string;
  /** Base URL of variant B, with its path prefix. At least one of the two URLs is required. */
  renderBaseUrl?: string | undefined;
  /** Base URL of variant A, with its path prefix. */
  retrieveBaseUrl?: string | undefined;
  /** Certificates (PEM) of authorities to trust in addition to Node's. */
  ca?: string | readonly string[] | undefined;
  /** Requests made at the same time. @default 20 */
  concurrency?: number | undefined;
  /** Overrides for how long and how much to accept. */
  limits?: Partial<Limits> | undefined;
  /** Called when the service asks to wait, fails for every request, recovers, or when variant B is given up. */
  onNotice?: ((notice: Notice) => void) | undefined;
}

/** A snippet's content, and the variant it came from. */
export interface Snippet extends RenderedSnippet {
  variant: Variant;
  /** Sent by variant A only. */
  name?: string | undefined;
  /** From the first request to the last byte, including waits. */
  milliseconds: number;
}

/** What was sent so far. */
export interface Counts {
  /** HTTP requests, retries included. */
  requests: number;
  /** Requests that repeated one to the same variant. */
  retries: number;
  /** Snippets that fell back from variant B to variant A. */
  fallbacks: number;
}

/**
 * The Snippet Delivery Service over HTTPS. Takes requests that were checked before; the public `SnippetClient` checks
 * what its users pass and hands it on to here.
 *
 * Keeps connections, and what it has learned about the service, until it is closed.
 */
export class Service {
  readonly #endpoints: Partial<Record<Variant, Endpoint>> = {};
  readonly #connection: Connection;
  readonly #queue: ReturnType<typeof pLimit>;
  readonly #notify: (notice: Notice) => void;
  readonly #closing = new AbortController();
  readonly #counts: Counts = { requests: 0, retries: 0, fallbacks: 0 };
  #dispatcher: Promise<Dispatcher> | undefined;
  #fallbacksInARow = 0;
  #renderGivenUp = false;

  /** @throws SnippetError `invalid-options`. A malformed key is rejected without being shown. */
  constructor(options: ServiceOptions, clock: Clock = systemClock) {
    const { concurrency = 20, onNotice } = options;
    const apiKey = checkApiKey(options.apiKey);
    const limits: Limits = { ...defaultLimits, ...options.limits };
    protectKey(apiKey);
    if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
      throw new SnippetError('invalid-options', 'concurrency must be a positive whole number.');
    }
    this.#notify = onNotice ?? (() => {});
    this.#queue = pLimit(concurrency);
    this.#connect(options, clock, limits);
    this.#connection = {
      authorization: `Bearer ${apiKey}`,
      clock,
      limits,
      clean: cleanText,
      dispatcher: () => {
        this.#dispatcher ??= createDispatcher({ ca: options.ca, concurrency, limits });
        return this.#dispatcher;
      },
      onRequest: (isRetry) => {
        this.#counts.requests += 1;
        if (isRetry) this.#counts.retries += 1;
      },
      onFallback: () => this.#countFallback(),
    };
  }

  get counts(): Readonly<Counts> {
    return { ...this.#counts };
  }

  /** Variant B (specification, section 4.2). @throws SnippetError */
  async render(request: SnippetRequest, signal?: AbortSignal): Promise<RenderedSnippet> {
    const read = (_variant: Variant, body: string) => readRendered(body);
    const plan = { request, endpoint: this.#endpoint('render'), fallback: undefined, read };
    return (await this.#fetch(plan, signal)).value;
  }

  /** Variant A (specification, section 4.1). @throws SnippetError */
  async retrieve(request: SnippetRequest, signal?: AbortSignal): Promise<RetrievedSnippet> {
    const read = (_variant: Variant, body: string) => readRetrieved(body, request.id);
    const plan = { request, endpoint: this.#endpoint('retrieve'), fallback: undefined, read };
    return (await this.#fetch(plan, signal)).value;
  }

  /** Variant B, falling back to variant A; or the only one whose base URL is set. @throws SnippetError */
  async get(request: SnippetRequest, signal?: AbortSignal): Promise<Snippet> {
    const { id } = request;
    const { render, retrieve } = this.#endpoints;
    const first =
      render === undefined || (retrieve !== undefined && this.#renderGivenUp) ? 'retrieve' : 'render';
    const { variant, value, attempts, milliseconds } = await this.#fetch(
      {
        request,
        endpoint: this.#endpoint(first),
        fallback: first === 'render' ? retrieve : undefined,
        read: (from, body) => (from === 'render' ? readRendered(body) : readRetrieved(body, id)),
      },
      signal,
    );
    if (variant === 'render') this.#fallbacksInARow = 0;
    if (value.content === undefined) {
      throw new SnippetError(
        'no-content',
        'the answer has no content. Set a base URL for variant B (render).',
        {
          snippetId: id,
          variant,
          attempts,
          status: 200,
        },
      );
    }
    const name = 'name' in value ? value.name : undefined;
    return { content: value.content, variant, milliseconds, ...(name === undefined ? {} : { name }) };
  }

  /** Ends every request in progress (each rejects with `closed`) and closes the connections. */
  async close(): Promise<void> {
    this.#closing.abort(new SnippetError('closed', 'The client was closed.'));
    const dispatcher = await this.#dispatcher;
    await dispatcher?.destroy();
  }

  #connect({ renderBaseUrl, retrieveBaseUrl }: ServiceOptions, clock: Clock, limits: Limits): void {
    const gates = new Map<string, OriginGate>();
    const endpoint = (variant: Variant, name: string, value: string): Endpoint => {
      const base = parseBaseUrl(name, value);
      const gate = gates.get(base.origin) ?? new OriginGate(base.origin, clock, limits, this.#notify);
      gates.set(base.origin, gate);
      return { variant, base, gate };
    };
    if (renderBaseUrl !== undefined) {
      this.#endpoints.render = endpoint('render', 'renderBaseUrl', renderBaseUrl);
    }
    if (retrieveBaseUrl !== undefined) {
      this.#endpoints.retrieve = endpoint('retrieve', 'retrieveBaseUrl', retrieveBaseUrl);
    }
    if (renderBaseUrl === undefined && retrieveBaseUrl === undefined) {
      throw new SnippetError('invalid-options', 'Set renderBaseUrl, retrieveBaseUrl, or both.');
    }
  }

  async #fetch<T>(plan: FetchPlan<T>, signal: AbortSignal | undefined): Promise<FetchResult<T>> {
    this.#checkParams(plan);
    const ends =
      signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal]);
    try {
      // A request that is still queued does not see the signal, so both are raced.
      return await unlessAborted(
        ends,
        this.#queue(() => {
          ends.throwIfAborted();
          return fetchSnippet(plan, this.#connection, ends);
        }),
      );
    } catch (error) {
      if (error instanceof SnippetError) throw error;
      if (!signal?.aborted) throw error;
      const { id } = plan.request;
      throw new SnippetError('aborted', 'the request was aborted.', { snippetId: id, cause: signal.reason });
    }
  }

  #endpoint(variant: Variant): Endpoint {
    const endpoint = this.#endpoints[variant];
    if (endpoint !== undefined) return endpoint;
    throw new SnippetError('invalid-options', `${variant}BaseUrl is not set.`);
  }

  #checkParams({ request, endpoint, fallback }: FetchPlan<unknown>): void {
    const { urlLength } = this.#connection.limits;
    // Checked where they entered, unless that was in another process, as with those of a manifest.
    if (request.params !== undefined && containsKnownKey(request.params)) {
      throw new SnippetError('invalid-params', 'its params contain the API key.', { snippetId: request.id });
    }
    for (const { base, variant } of fallback === undefined ? [endpoint] : [endpoint, fallback]) {
      const { length } = snippetUrl(base, variant, request);
      if (length <= urlLength) continue;
      throw new SnippetError(
        'invalid-params',
        `its params make a URL of ${length} characters; the limit is ${urlLength}.`,
        { snippetId: request.id },
      );
    }
  }

  #countFallback(): void {
    this.#counts.fallbacks += 1;
    this.#fallbacksInARow += 1;
    if (this.#renderGivenUp || this.#fallbacksInARow < this.#connection.limits.fallbacksInARow) return;
    this.#renderGivenUp = true;
    this.#notify({ kind: 'render-given-up' });
  }
}
