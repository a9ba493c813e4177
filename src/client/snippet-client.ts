import type { RenderedSnippet, RetrievedSnippet } from './answer.ts';
import type { Clock } from './clock.ts';
import type { PublicLimits } from './limits.ts';
import { nodeFlaw } from './node-version.ts';
import { type Counts, Service, type ServiceOptions, type Snippet } from './service.ts';
import { SnippetError } from './snippet-error.ts';
import { createRequest, type Params } from './snippet-request.ts';

export interface SnippetClientOptions extends Omit<ServiceOptions, 'limits'> {
  /** Overrides for how long to try. */
  limits?: Partial<PublicLimits> | undefined;
}

export interface RequestOptions {
  /** Aborts the request. The promise then rejects with a SnippetError `aborted`. */
  signal?: AbortSignal | undefined;
}

/**
 * A client for the Snippet Delivery Service. The API key is set once and sent with every request (specification,
 * section 1).
 *
 * Keeps connections open, and remembers what it has learned about the service, until it is closed. Every failure is a
 * {@link SnippetError}. No error contains the key.
 *
 * @example
 * const client = new SnippetClient({ apiKey, renderBaseUrl, retrieveBaseUrl });
 * const { content } = await client.get(42, { plan: 'pro' });
 * await client.close();
 */
export class SnippetClient {
  readonly #service: Service;

  /**
   * @param clock the time to go by; replaced in tests.
   * @throws SnippetError `unsupported-node`, or `invalid-options`. A malformed key is rejected without being shown.
   */
  constructor(options: SnippetClientOptions, clock?: Clock) {
    const flaw = nodeFlaw();
    if (flaw !== undefined) throw new SnippetError('unsupported-node', flaw);
    checkLimits(options.limits);
    this.#service = new Service(options, clock);
  }

  get counts(): Readonly<Counts> {
    return this.#service.counts;
  }

  /**
   * Renders a snippet: variant B (specification, section 4.2).
   *
   * @param id the snippet's positive integer id.
   * @param params variables for the snippet. The service ignores those it does not use.
   * @throws SnippetError
   */
  async render(id: number, params?: Params, { signal }: RequestOptions = {}): Promise<RenderedSnippet> {
    return this.#service.render(createRequest(id, params), signal);
  }

  /**
   * Retrieves a snippet: variant A (specification, section 4.1). `name` and `content` are present if the service
   * sent them.
   *
   * @throws SnippetError
   */
  async retrieve(id: number, params?: Params, { signal }: RequestOptions = {}): Promise<RetrievedSnippet> {
    return this.#service.retrieve(createRequest(id, params), signal);
  }

  /**
   * Gets a snippet's content: rendered, or retrieved if rendering does not exist or keeps failing. With only one base
   * URL set, that variant alone is asked.
   *
   * @throws SnippetError
   */
  async get(id: number, params?: Params, { signal }: RequestOptions = {}): Promise<Snippet> {
    return this.#service.get(createRequest(id, params), signal);
  }

  /** Ends every request in progress (each rejects with `closed`) and closes the connections. */
  async close(): Promise<void> {
    await this.#service.close();
  }
}

const limitNames: readonly string[] = [
  'attempts',
  'attemptTimeout',
  'deadline',
  'patience',
] satisfies (keyof PublicLimits)[];

function checkLimits(limits: Partial<PublicLimits> = {}): void {
  const unknown = Object.keys(limits).find((name) => !limitNames.includes(name));
  if (unknown === undefined) return;
  const names = limitNames.join(', ');
  throw new SnippetError('invalid-options', `limits.${unknown} is not a limit. There are ${names}.`);
}
