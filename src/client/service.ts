import { type RenderedSnippet, type RetrievedSnippet, readRendered, readRetrieved } from './answer.ts';
import { containsKnownKey, protectKey } from './api-key.ts';
import { type Clock, systemClock } from './clock.ts';
import { type Endpoint, newHealth, type Origin } from './endpoint.ts';
import { type Connection, type FetchPlan, type FetchResult, fetchSnippet, probe } from './fetch-snippet.ts';
import { type Limits, withDefaults } from './limits.ts';
import { checkApiKey, parseBaseUrl, snippetUrl, type Variant } from './service-url.ts';
import { SnippetError } from './snippet-error.ts';
import type { SnippetRequest } from './snippet-request.ts';
import { type Notice, Traffic } from './traffic.ts';
import { httpsTransport, type Transport } from './transport.ts';

export interface ServiceOptions {
  /** The organization's API key (specification, section 5), sent as a bearer credential with every request. */
  apiKey: string;
  /** Base URL of variant B, with its path prefix. At least one of the two URLs is required. */
  renderBaseUrl?: string | undefined;
  /** Base URL of variant A, with its path prefix. */
  retrieveBaseUrl?: string | undefined;
  /** Certificates (PEM) of authorities to trust in addition to Node's. */
  ca?: string | readonly string[] | undefined;
  /**
   * The most requests made at the same time. A client starts with 20, makes more while the service keeps up, and stays at
   * 20 over HTTP/1.1. @default 100
   */
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
  readonly #notify: (notice: Notice) => void;
  readonly #closing = new AbortController();
  readonly #counts: Counts = { requests: 0, retries: 0, fallbacks: 0 };
  /** Of variant B: how many snippets it has rendered, and for how many it had no route. */
  #rendered = 0;
  #withoutRoute = 0;
  #routeStatus: number | undefined;
  #fallbacksInARow = 0;
  #renderGivenUp = false;

  /**
   * @param transport what carries requests; replaced in tests.
   * @throws SnippetError `invalid-options`. A malformed key is rejected without being shown.
   */
  constructor(options: ServiceOptions, clock: Clock = systemClock, transport?: Transport) {
    const { concurrency = 100, onNotice } = options;
    const apiKey = checkApiKey(options.apiKey);
    const limits = withDefaults(options.limits);
    protectKey(apiKey);
    if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
      throw new SnippetError('invalid-options', 'concurrency must be a positive whole number.');
    }
    this.#notify = onNotice ?? (() => {});
    this.#connect(options);
    const leavesFirst = () => this.#renderGivenUp;
    const carrier = transport ?? httpsTransport({ ca: options.ca, concurrency, limits });
    this.#connection = {
      traffic: new Traffic({
        clock,
        limits,
        most: () => Math.min(concurrency, carrier.capacity),
        leavesFirst,
        notify: this.#notify,
        closing: this.#closing.signal,
        probe: (endpoint, request, signal) =>
          probe(this.#plan([endpoint], request), endpoint, this.#connection, signal),
      }),
      leavesFirst,
      authorization: `Bearer ${apiKey}`,
      clock,
      limits,
      transport: carrier,
      onRequest: (isRetry) => {
        this.#counts.requests += 1;
        if (isRetry) this.#counts.retries += 1;
      },
      onFallback: () => {
        this.#counts.fallbacks += 1;
      },
      onNoRoute: ({ variant }, status) => {
        if (variant !== 'render') return;
        this.#withoutRoute += 1;
        this.#routeStatus = status;
      },
    };
  }

  get counts(): Readonly<Counts> {
    return { ...this.#counts };
  }

  /** What variant B answers, if it has rendered nothing, and each snippet fell back because it has no such route. */
  get routeMissing(): { baseUrl: string; status: number | undefined } | undefined {
    const { render } = this.#endpoints;
    if (render === undefined || this.#rendered > 0 || this.#withoutRoute === 0) return undefined;
    if (this.#withoutRoute < this.#counts.fallbacks) return undefined;
    return { baseUrl: render.base.href, status: this.#routeStatus };
  }

  /** Variant B (specification, section 4.2). @throws SnippetError */
  async render(request: SnippetRequest, signal?: AbortSignal): Promise<RenderedSnippet> {
    const read = (_variant: Variant, body: Uint8Array) => readRendered(body);
    const plan = { request, endpoints: [this.#endpoint('render')], read };
    return (await this.#fetch(plan, signal)).value;
  }

  /** Variant A (specification, section 4.1). @throws SnippetError */
  async retrieve(request: SnippetRequest, signal?: AbortSignal): Promise<RetrievedSnippet> {
    const read = (_variant: Variant, body: Uint8Array) => readRetrieved(body, request.id);
    const plan = { request, endpoints: [this.#endpoint('retrieve')], read };
    return (await this.#fetch(plan, signal)).value;
  }

  /** Variant B, falling back to variant A; or the only one whose base URL is set. @throws SnippetError */
  async get(request: SnippetRequest, signal?: AbortSignal): Promise<Snippet> {
    const { id } = request;
    const { render, retrieve } = this.#endpoints;
    const plan = this.#plan(
      [render, retrieve].filter((endpoint) => endpoint !== undefined),
      request,
    );
    const { variant, value, attempts, milliseconds, isFallback } = await this.#fetch(plan, signal);
    if (variant === 'render') {
      this.#rendered += 1;
      this.#fallbacksInARow = 0;
    } else if (isFallback) this.#noteFallback();
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
    await this.#connection.transport.close();
  }

  #plan(
    endpoints: readonly Endpoint[],
    request: SnippetRequest,
  ): FetchPlan<RenderedSnippet | RetrievedSnippet> {
    return {
      request,
      endpoints,
      read: (from, body) => (from === 'render' ? readRendered(body) : readRetrieved(body, request.id)),
    };
  }

  #connect({ renderBaseUrl, retrieveBaseUrl }: ServiceOptions): void {
    const origins = new Map<string, Origin>();
    const endpoint = (variant: Variant, name: string, value: string): Endpoint => {
      const base = parseBaseUrl(name, value);
      const origin = origins.get(base.origin) ?? { name: base.origin, heldUntil: 0 };
      origins.set(base.origin, origin);
      return { variant, base, origin, health: newHealth() };
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
    // One signal for each request, even if it has only one source: a thousand listeners on one signal are slow.
    const { signal: closing } = this.#closing;
    const ends = AbortSignal.any(signal === undefined ? [closing] : [signal, closing]);
    try {
      return await fetchSnippet(plan, this.#connection, ends);
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

  #checkParams({ request, endpoints }: FetchPlan<unknown>): void {
    const { urlLength } = this.#connection.limits;
    // Checked where they entered, unless that was in another process, as with those of a manifest.
    if (request.params !== undefined && containsKnownKey(request.params)) {
      throw new SnippetError('invalid-params', 'its params contain the API key.', { snippetId: request.id });
    }
    for (const { base, variant } of endpoints) {
      const { length } = snippetUrl(base, variant, request);
      if (length <= urlLength) continue;
      throw new SnippetError(
        'invalid-params',
        `its params make a URL of ${length} characters; the limit is ${urlLength}.`,
        { snippetId: request.id },
      );
    }
  }

  /** Only a fallback that variant A has answered counts: if both are down, variant B is not the one to leave. */
  #noteFallback(): void {
    this.#fallbacksInARow += 1;
    if (this.#renderGivenUp || this.#fallbacksInARow < this.#connection.limits.fallbacksInARow) return;
    this.#renderGivenUp = true;
    this.#notify({ kind: 'render-given-up', isRouteMissing: this.routeMissing !== undefined });
  }
}
