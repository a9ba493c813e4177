import { canonicalParams, type Params } from '../client/params.ts';
import type { RequestOptions, Snippet } from '../client/snippet-client.ts';
import { SnippetError } from '../client/snippet-error.ts';
import { parseSnippetId } from '../client/snippet-id.ts';
import type { SnippetSource, SourcedSnippet } from '../snippet-source.ts';
import { type CacheEntry, isYounger, mayStandIn } from './cache-entry.ts';
import type { CacheQuestion } from './cache-key.ts';
import type { SnippetCache } from './snippet-cache.ts';

export interface CachePolicy {
  /** How old an answer may be and be given without asking the service; in milliseconds. 0: always ask. */
  maxAge: number;
  /** How old an answer may be and stand in when the service is in trouble; in milliseconds. 0: never. */
  staleIfError: number;
  /** Whether the service is left alone, and answers of any age are good. */
  offline: boolean;
}

export interface CachingClientOptions {
  cache: SnippetCache;
  policy: CachePolicy;
  keyOf(question: CacheQuestion): string;
  /** The base addresses that are set, by their variants. */
  endpoints: readonly Pick<CacheQuestion, 'baseUrl' | 'variant'>[];
  /** Whether an answer may be written down: one that holds the key may not. */
  mayKeep(entry: CacheEntry): boolean;
  /** Whether the site is known to have shown something newer already: a refresh asks the service itself. */
  isSuperseded(id: number, params: string | undefined, entry: CacheEntry): boolean;
}

/** The service with a cache: asks it, keeps what it answers, and gives what was kept where that may be. */
export class CachingClient implements SnippetSource {
  readonly #client: SnippetSource;
  readonly #options: CachingClientOptions;
  #cached = 0;

  constructor(client: SnippetSource, options: CachingClientOptions) {
    this.#client = client;
    this.#options = options;
  }

  get counts(): SnippetSource['counts'] {
    return { ...this.#client.counts, cached: this.#cached };
  }

  async get(id: number, params?: Params, options?: RequestOptions): Promise<SourcedSnippet> {
    const { policy, isSuperseded } = this.#options;
    const canonical = canonicalParams(params);
    const start = Date.now();
    if (policy.offline) return this.#offline(parseSnippetId(id), canonical);
    const kept = policy.maxAge > 0 ? await this.#read(id, canonical) : undefined;
    if (kept !== undefined && isYounger(kept, policy.maxAge, start) && !isSuperseded(id, canonical, kept)) {
      return this.#use(kept, start);
    }
    try {
      const snippet = await this.#client.get(id, params, options);
      this.#write(id, canonical, snippet);
      return snippet;
    } catch (error) {
      if (!(error instanceof SnippetError) || !mayStandIn(error.code) || policy.staleIfError === 0)
        throw error;
      const last = kept ?? (await this.#read(id, canonical));
      if (last === undefined || !isYounger(last, policy.staleIfError, start)) throw error;
      return { ...this.#use(last, start), error };
    }
  }

  async close(): Promise<void> {
    await this.#client.close();
    await this.#options.cache.close();
  }

  async #offline(id: number, params: string | undefined): Promise<SourcedSnippet> {
    const start = Date.now();
    const kept = await this.#read(id, params);
    if (kept !== undefined) return this.#use(kept, start);
    throw new SnippetError(
      'not-cached',
      `Snippet ${id} is not in the cache, and nobody is asked: offline is set.`,
      {
        snippetId: id,
      },
    );
  }

  #use(entry: CacheEntry, start: number): SourcedSnippet {
    this.#cached += 1;
    return { ...entry, milliseconds: Date.now() - start };
  }

  /** The newest answer of either variant. */
  async #read(id: number, params: string | undefined): Promise<CacheEntry | undefined> {
    const { cache, endpoints, keyOf } = this.#options;
    const kept = await Promise.all(
      endpoints.map((endpoint) => cache.read(keyOf({ ...endpoint, id, params }))),
    );
    return kept.filter((entry) => entry !== undefined).sort((a, b) => b.fetchedAt - a.fetchedAt)[0];
  }

  #write(id: number, params: string | undefined, { content, variant, name }: Snippet): void {
    const { cache, endpoints, keyOf, mayKeep } = this.#options;
    const endpoint = endpoints.find((one) => one.variant === variant);
    if (endpoint === undefined) return;
    const entry = { content, variant, fetchedAt: Date.now(), ...(name === undefined ? {} : { name }) };
    if (mayKeep(entry)) cache.write(keyOf({ ...endpoint, id, params }), entry);
  }
}
