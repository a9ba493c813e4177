import pLimit from 'p-limit';
import type { Dispatcher } from 'undici';
import { type RenderedSnippet, type RetrievedSnippet, readRendered, readRetrieved } from './answer.ts';
import { checkApiKey, redactorOf } from './api-key.ts';
import { ask, type Connection, type Endpoint, type Question, type Reply } from './ask.ts';
import { parseBaseUrl, snippetUrl } from './base-url.ts';
import { cleanText } from './clean-text.ts';
import { type Clock, systemClock } from './clock.ts';
import { createDispatcher } from './dispatcher.ts';
import { defaultLimits, type Limits } from './limits.ts';
import type { Notice } from './notice.ts';
import { OriginGate } from './origin-gate.ts';
import { canonicalParams, type Params } from './params.ts';
import { SnippetError } from './snippet-error.ts';
import { parseSnippetId } from './snippet-id.ts';
import { unlessAborted } from './unless-aborted.ts';
import type { Variant } from './variant.ts';

export interface SnippetClientOptions {
  /** The organization's API key (specification, section 5), sent as a bearer credential with every request. */
  apiKey: string;
  /** Base address of variant B, with its path prefix. At least one of the two addresses is needed. */
  renderBaseUrl?: string | undefined;
  /** Base address of variant A, with its path prefix. */
  retrieveBaseUrl?: string | undefined;
  /** Certificates (PEM) of authorities to trust beside those Node trusts. */
  ca?: string | readonly string[] | undefined;
  /** Requests under way at once. @default 20 */
  concurrency?: number | undefined;
  /** How long and how much to accept; what is left out keeps its default. */
  limits?: Partial<Limits> | undefined;
  /** Told when the service asks to wait, fails for everyone, recovers, or when variant B is given up. */
  onNotice?: ((notice: Notice) => void) | undefined;
}

export interface RequestOptions {
  /** Ends the waiting; the promise then rejects with a SnippetError `aborted`. */
  signal?: AbortSignal | undefined;
}

/** What `get` gives: the content, and which variant it came from. */
export interface Snippet extends RenderedSnippet {
  variant: Variant;
  /** Only variant A sends one. */
  name?: string | undefined;
  /** How long it took, from the first request to the last byte; waits are included. */
  milliseconds: number;
}

/** What a client has done so far. */
export interface Counts {
  /** Requests made, the repeated ones included. */
  requests: number;
  /** Requests that repeated one to the same variant. */
  retries: number;
  /** Snippets that were taken from variant B to variant A. */
  fallbacks: number;
}

/**
 * The Snippet Delivery Service as a program sees it: the key is set once, and every later request carries it
 * (specification, section 1).
 *
 * A client keeps connections, and what it has learned of the service, until it is closed. Every failure is a
 * {@link SnippetError}; none carries the key.
 *
 * @example
 * const client = new SnippetClient({ apiKey, renderBaseUrl, retrieveBaseUrl });
 * const { content } = await client.get(42, { plan: 'pro' });
 * await client.close();
 */
export class SnippetClient {
  readonly #endpoints: Partial<Record<Variant, Endpoint>> = {};
  readonly #connection: Connection;
  readonly #queue: ReturnType<typeof pLimit>;
  readonly #notify: (notice: Notice) => void;
  readonly #closing = new AbortController();
  readonly #counts: Counts = { requests: 0, retries: 0, fallbacks: 0 };
  #dispatcher: Promise<Dispatcher> | undefined;
  #fallbacksInARow = 0;
  #renderGivenUp = false;

  /**
   * @param clock the time to go by; a test passes its own.
   * @throws SnippetError `invalid-options`; a malformed key is refused here and not shown.
   */
  constructor(options: SnippetClientOptions, clock: Clock = systemClock) {
    const { concurrency = 20, onNotice } = options;
    const apiKey = checkApiKey(options.apiKey);
    const limits: Limits = { ...defaultLimits, ...options.limits };
    const redact = redactorOf(apiKey);
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
      clean: (text) => cleanText(redact(text)),
      dispatcher: () => {
        this.#dispatcher ??= createDispatcher({ ca: options.ca, concurrency, limits });
        return this.#dispatcher;
      },
      onRequest: (again) => {
        this.#counts.requests += 1;
        if (again) this.#counts.retries += 1;
      },
      onFallback: () => this.#fellBack(),
    };
  }

  get counts(): Readonly<Counts> {
    return { ...this.#counts };
  }

  /**
   * Renders a snippet: variant B (specification, section 4.2).
   *
   * @param id the snippet's positive integer id.
   * @param params variables for the snippet; those it does not use are ignored by the service.
   * @throws SnippetError
   */
  async render(id: number, params?: Params, options?: RequestOptions): Promise<RenderedSnippet> {
    const reply = await this.#ask('render', undefined, id, params, options, (_variant, body) =>
      readRendered(body),
    );
    return reply.value;
  }

  /**
   * Retrieves a snippet: variant A (specification, section 4.1). `name` and `content` are there if the
   * service sent them.
   *
   * @throws SnippetError
   */
  async retrieve(id: number, params?: Params, options?: RequestOptions): Promise<RetrievedSnippet> {
    const reply = await this.#ask('retrieve', undefined, id, params, options, (_variant, body) =>
      readRetrieved(body, id),
    );
    return reply.value;
  }

  /**
   * Gets a snippet's content by whichever variant gives it: render, and where that is absent or keeps
   * failing, retrieve. With only one base address set, that variant alone.
   *
   * @throws SnippetError
   */
  async get(id: number, params?: Params, options?: RequestOptions): Promise<Snippet> {
    const both = this.#endpoints.render !== undefined && this.#endpoints.retrieve !== undefined;
    const first =
      this.#endpoints.render === undefined || (both && this.#renderGivenUp) ? 'retrieve' : 'render';
    const second = first === 'render' && both ? 'retrieve' : undefined;
    const { variant, value, attempts, milliseconds } = await this.#ask(
      first,
      second,
      id,
      params,
      options,
      (from, body) => (from === 'render' ? readRendered(body) : readRetrieved(body, id)),
    );
    if (variant === 'render') this.#fallbacksInARow = 0;
    if (value.content === undefined) {
      throw new SnippetError(
        'no-content',
        `Snippet ${id} was retrieved, but the answer holds no content. Set a base address for variant B (render).`,
        { snippetId: id, variant, attempts, status: 200 },
      );
    }
    const name = 'name' in value ? value.name : undefined;
    return { content: value.content, variant, milliseconds, ...(name === undefined ? {} : { name }) };
  }

  /** Ends every request under way (each rejects with `closed`) and closes the connections. */
  async close(): Promise<void> {
    this.#closing.abort(new SnippetError('closed', 'The client was closed.'));
    const dispatcher = await this.#dispatcher;
    await dispatcher?.destroy();
  }

  #connect({ renderBaseUrl, retrieveBaseUrl }: SnippetClientOptions, clock: Clock, limits: Limits): void {
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

  async #ask<T>(
    first: Variant,
    second: Variant | undefined,
    id: number,
    params: Params | undefined,
    { signal }: RequestOptions = {},
    read: Question<T>['read'],
  ): Promise<Reply<T>> {
    const question: Question<T> = {
      id: parseSnippetId(id),
      params: canonicalParams(params),
      endpoint: this.#endpoint(first),
      fallback: second === undefined ? undefined : this.#endpoint(second),
      read,
    };
    this.#checkLength(question);
    const ends =
      signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal]);
    try {
      // Raced, because a question that still waits for its turn hears no signal.
      return await unlessAborted(
        ends,
        this.#queue(() => {
          ends.throwIfAborted();
          return ask(question, this.#connection, ends);
        }),
      );
    } catch (error) {
      if (error instanceof SnippetError) throw error;
      if (!signal?.aborted) throw error;
      throw new SnippetError('aborted', `Snippet ${id}: the request was aborted.`, {
        snippetId: id,
        cause: signal.reason,
      });
    }
  }

  #endpoint(variant: Variant): Endpoint {
    const endpoint = this.#endpoints[variant];
    if (endpoint !== undefined) return endpoint;
    throw new SnippetError('invalid-options', `${variant}BaseUrl is not set, so nothing can be asked there.`);
  }

  #checkLength({ id, params, endpoint, fallback }: Question<unknown>): void {
    const { urlLength } = this.#connection.limits;
    for (const { base, variant } of fallback === undefined ? [endpoint] : [endpoint, fallback]) {
      const { length } = snippetUrl(base, variant, id, params);
      if (length <= urlLength) continue;
      throw new SnippetError(
        'invalid-params',
        `The params of snippet ${id} make an address of ${length} characters; at most ${urlLength} are sent.`,
        { snippetId: id, variant },
      );
    }
  }

  #fellBack(): void {
    this.#counts.fallbacks += 1;
    this.#fallbacksInARow += 1;
    if (this.#renderGivenUp || this.#fallbacksInARow < this.#connection.limits.fallbacksInARow) return;
    this.#renderGivenUp = true;
    this.#notify({ kind: 'render-given-up' });
  }
}
