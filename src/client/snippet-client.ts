import { createTransport } from '#transport';
import { didYouMean } from '../text/intended-name.ts';
import { containsKnownKey } from '../text/known-keys.ts';
import { checkApiKey } from './api-key.ts';
import { parseBaseUrl, snippetUrl } from './base-url.ts';
import { type Clock, systemClock } from './clock.ts';
import { defaultPatience, type Limits, type PublicLimits, publicLimits, withDefaults } from './limits.ts';
import { invalidParams, type Params } from './params.ts';
import { type AttemptResult, describeAttempt, readFailure, readResponse } from './read-response.ts';
import { type Attempt, Endpoint } from './scheduling/endpoint.ts';
import type { JobResult } from './scheduling/job.ts';
import type { Counts, Notice } from './scheduling/notice.ts';
import { type MissingRoute, Scheduler } from './scheduling/scheduler.ts';
import { SnippetError } from './snippet-error.ts';
import { createRequest, type SnippetRequest } from './snippet-request.ts';
import type { Transport } from './transport/transport.ts';
import type { RenderedSnippet, RetrievedSnippet, Variant } from './variants.ts';

/** How a {@link SnippetClient} reaches the service. */
export interface SnippetClientOptions {
  /** The organization's API key (specification, section 5), sent as a bearer credential with each request. */
  apiKey: string;
  /**
   * Base URL of variant B, for rendering, with its path prefix (specification, section 1). HTTPS only. One of
   * the two base URLs is required.
   */
  renderBaseUrl?: string | undefined;
  /** Base URL of variant A, for retrieving, with its path prefix (specification, section 1). HTTPS only. */
  retrieveBaseUrl?: string | undefined;
  /** Certificates (PEM) of authorities to trust in addition to Node's. */
  ca?: string | readonly string[] | undefined;
  /**
   * The most requests at once. A client starts with 20, and makes more while the service keeps up; over
   * HTTP/1.1 it stays at 20. @default 100
   */
  concurrency?: number | undefined;
  /**
   * How long a service that gives no answer is tried, in milliseconds; at most 30,000 if its port refuses or
   * its name does not resolve from the start. With 0, a snippet is given up after `limits.attempts`.
   * @default 60_000
   */
  patience?: number | undefined;
  /** How long to try to fetch one snippet. A limit that is left out has its default. */
  limits?: Partial<PublicLimits> | undefined;
  /** Called with news of the service: see {@link Notice}. Errors that it throws are ignored. */
  onNotice?: ((notice: Notice) => void) | undefined;
}

/** Parts of a client that tests replace. */
export interface ClientParts {
  clock?: Clock;
  transport?: Transport;
  limits?: Partial<Limits>;
}

/** The last argument of every method that makes requests. */
export interface RequestOptions {
  /** Aborts the request, which rejects with a SnippetError `aborted`. Its `cause` is the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** The content of a snippet, and where it came from. Returned by {@link SnippetClient.get}. */
export interface Snippet extends RenderedSnippet {
  /** The variant that sent the content (specification, section 4). */
  variant: Variant;
  /** The name that people gave the snippet. Only a retrieved snippet has one (specification, section 2). */
  name?: string | undefined;
  /** From the first request to the last byte, waits included. */
  milliseconds: number;
}

/** What is known of the service, and the requests that share this. */
interface Run {
  /** The endpoints that have a base URL, variant B first. */
  endpoints: readonly Endpoint[];
  scheduler: Scheduler;
}

/**
 * A client for the Snippet Delivery Service: both variants, retries, and the fallback from one to the other.
 * It keeps its connections, and what it learns about the service, until it is closed: use one client for
 * everything. Every failure is a {@link SnippetError}, which never contains the key.
 *
 * @example
 * const client = new SnippetClient({ apiKey, renderBaseUrl, retrieveBaseUrl });
 * const { content } = await client.get(42, { plan: 'pro' });
 * await client.close();
 */
export class SnippetClient {
  /** Makes what calls share: what is known of the service, and who is asked next. */
  readonly #createRun: () => Run;
  readonly #run: Run;
  /** The runs of calls that may not share one, while they are under way. */
  readonly #callRuns = new Set<Run>();
  #closedWith: SnippetError | undefined;
  readonly #limits: Limits;
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #headers: Record<string, string>;

  /** @throws SnippetError `unsupported-node`, or `invalid-options`. A malformed key is not shown. */
  constructor(options: SnippetClientOptions);
  /** @internal */
  constructor(options: SnippetClientOptions, parts: ClientParts);
  constructor(options: SnippetClientOptions, { clock = systemClock, transport, limits }: ClientParts = {}) {
    const { concurrency = 100, patience = defaultPatience, onNotice } = options;
    checkLimitNames(options.limits);
    const apiKey = checkApiKey(options.apiKey);
    if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
      throw invalidOptions('concurrency must be a positive whole number.');
    }
    if (!(patience >= 0)) throw invalidOptions('patience must not be negative.');

    this.#limits = withDefaults({ ...options.limits, ...limits });
    this.#clock = clock;
    this.#headers = {
      authorization: `Bearer ${apiKey}`,
      accept: 'application/json, application/problem+json',
    };
    this.#transport = transport ?? createTransport({ ca: options.ca, concurrency, limits: this.#limits });
    const counts: Counts = { requests: 0, retries: 0, fallbacks: 0 };
    const schedulerOptions = {
      counts,
      clock,
      limits: this.#limits,
      patience,
      maxConcurrency: () => Math.min(concurrency, this.#transport.capacity),
      sendRequest: (attempt: Attempt, signal: AbortSignal) => this.#sendRequest(attempt, signal),
      notify(notice: Notice) {
        try {
          onNotice?.(notice);
        } catch {
          // An error of the listener must not fail a snippet.
        }
      },
    };
    this.#createRun = () => {
      const endpoints = createEndpoints(options, this.#limits);
      return { endpoints, scheduler: new Scheduler({ ...schedulerOptions, endpoints }) };
    };
    this.#run = this.#createRun();
  }

  /** The number of requests that the client has made so far. */
  get counts(): Readonly<Counts> {
    return { ...this.#run.scheduler.counts };
  }

  /** @internal Set if variant B had no route for any snippet, so that its base URL may be wrong. */
  get missingRoute(): MissingRoute | undefined {
    return this.#run.scheduler.missingRoute;
  }

  /**
   * Renders a snippet: variant B (specification, section 4.2).
   *
   * @param id a positive integer.
   * @param params variables for the snippet. The service ignores those it does not use.
   * @throws SnippetError `invalid-options` if there is no `renderBaseUrl`; `invalid-id`, `invalid-params`,
   * `aborted` or `closed`; else what the service answered, or why it gave no answer.
   */
  async render(id: number, params?: Params, { signal }: RequestOptions = {}): Promise<RenderedSnippet> {
    const { content } = await this.#fetchFrom('render', createRequest(id, params), signal);
    // A response of variant B without content has been rejected as a `bad-answer`, so there is content.
    return { content: content as string };
  }

  /**
   * Retrieves a snippet: variant A (specification, section 4.1).
   *
   * @param id a positive integer.
   * @returns `name` and `content` only if the service sent them: the specification leaves this open.
   * @throws SnippetError as {@link SnippetClient.render} does, with `retrieveBaseUrl`.
   */
  async retrieve(id: number, params?: Params, { signal }: RequestOptions = {}): Promise<RetrievedSnippet> {
    const result = await this.#fetchFrom('retrieve', createRequest(id, params), signal);
    const { attempts: _, milliseconds: __, variant: ___, ...snippet } = result;
    return { id, ...snippet };
  }

  /**
   * Fetches the content of a snippet: renders it; or retrieves it, if rendering has no base URL or route, or
   * keeps failing (specification, section 4).
   *
   * @param id a positive integer.
   * @throws SnippetError as {@link SnippetClient.render} does, or `no-content` if variant A sent none.
   */
  async get(id: number, params?: Params, { signal }: RequestOptions = {}): Promise<Snippet> {
    return this.fetch(createRequest(id, params), signal);
  }

  /** @internal Like {@link SnippetClient.get}, for a request that was checked before. */
  async fetch(request: SnippetRequest, signal?: AbortSignal): Promise<Snippet> {
    const { attempts, ...snippet } = await this.#fetchFrom('any', request, signal);
    const { content } = snippet;
    if (content === undefined) {
      const fields = { snippetId: request.id, variant: snippet.variant, attempts, status: 200 };
      throw new SnippetError('no-content', describeAttempt({ code: 'no-content' }), fields);
    }
    return { ...snippet, content };
  }

  /** @internal Asks one variant alone, and accepts an answer of variant A without content. */
  async askVariant(variant: Variant, request: SnippetRequest): Promise<void> {
    await this.#fetchFrom(variant, request);
  }

  /** @internal Whether no call may wait for what another one began, as in workers of Cloudflare. */
  get isolatesCalls(): boolean {
    return this.#transport.isolatesCalls ?? false;
  }

  /** Closes the connections. Requests in progress, and later ones, reject with `closed`. */
  async close(): Promise<void> {
    this.#closedWith = new SnippetError('closed', 'The client was closed.');
    for (const { scheduler } of [this.#run, ...this.#callRuns]) scheduler.close(this.#closedWith);
    await this.#transport.close();
  }

  async #fetchFrom(
    variant: Variant | 'any',
    request: SnippetRequest,
    signal?: AbortSignal,
  ): Promise<JobResult> {
    const run = this.#transport.isolatesCalls ? this.#createRun() : this.#run;
    const endpoints = run.endpoints.filter((endpoint) => variant === 'any' || endpoint.variant === variant);
    if (endpoints.length === 0) throw invalidOptions(`${variant}BaseUrl is not set.`);
    this.#checkParams(request, endpoints);
    if (this.#closedWith) run.scheduler.close(this.#closedWith);
    if (run !== this.#run) this.#callRuns.add(run);
    try {
      return await run.scheduler.fetch(request, endpoints, signal);
    } catch (error) {
      if (error instanceof SnippetError || !signal?.aborted) throw error;
      const fields = { snippetId: request.id, cause: signal.reason };
      throw new SnippetError('aborted', 'the request was aborted.', fields);
    } finally {
      this.#callRuns.delete(run);
    }
  }

  /** Throws if params contain the API key, or make the URL too long. */
  #checkParams(request: SnippetRequest, endpoints: readonly Endpoint[]): void {
    const { id, params = '' } = request;
    // Params from the build's record were checked in another process, perhaps with another key: check again.
    if (containsKnownKey(params)) throw invalidParams('its params contain the API key.', id);

    const { urlLength } = this.#limits;
    for (const { base, variant } of endpoints) {
      const { length } = snippetUrl(base, variant, request);
      if (length > urlLength) {
        throw invalidParams(`its params make a URL of ${length} characters; the limit is ${urlLength}.`, id);
      }
    }
  }

  /** Makes one HTTP request, and reads what its answer means. @throws only the reason of `signal`. */
  async #sendRequest({ request, endpoint, timeout }: Attempt, signal: AbortSignal): Promise<AttemptResult> {
    const { base, variant } = endpoint;
    const url = snippetUrl(base, variant, request);
    try {
      const response = await this.#transport.send({ url, headers: this.#headers, timeout }, signal);
      return readResponse(response, variant, request.id, this.#clock.now());
    } catch (error) {
      signal.throwIfAborted();
      return readFailure(error);
    }
  }
}

const invalidOptions = (reason: string) => new SnippetError('invalid-options', reason);

function checkLimitNames(limits: SnippetClientOptions['limits']): void {
  const names: readonly string[] = publicLimits;
  const unknown = Object.keys(limits ?? {}).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const advice = didYouMean(unknown, names) || `There are ${names.join(', ')}.`;
  throw invalidOptions(`limits.${unknown} is not a limit. ${advice}`);
}

/** Makes an endpoint for each base URL that is set, in the order in which they are asked: variant B first. */
function createEndpoints(options: SnippetClientOptions, limits: Limits): Endpoint[] {
  const endpoints = (['render', 'retrieve'] as const).flatMap((variant) => {
    const name = `${variant}BaseUrl` as const;
    const value = options[name];
    return value === undefined ? [] : new Endpoint(variant, parseBaseUrl(name, value), limits);
  });
  if (endpoints.length === 0) throw invalidOptions('Set renderBaseUrl, retrieveBaseUrl, or both.');
  return endpoints;
}
