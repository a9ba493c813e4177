import type { Snippet } from '../client/snippet-client.ts';
import { SnippetError, type SnippetErrorCode } from '../client/snippet-error.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { errors, SiteError } from '../failures/errors.ts';
import { isYounger } from '../settings/duration.ts';
import type { CacheEntry, CacheKeyParts, SnippetCache } from './cache.ts';
import type { SnippetSource, SourcedSnippet } from './source.ts';

export interface CachePolicy {
  /** How old an answer may be to be used without a request, in milliseconds. 0: never used. */
  maxAge: number;
  /** How old an answer may be to be used when the service is in trouble, in milliseconds. 0: never used. */
  staleIfError: number;
  /** Uses answers of any age and makes no requests. */
  offline: boolean;
}

/** A base URL that is set, and its variant. */
export type CacheEndpoint = Pick<CacheKeyParts, 'baseUrl' | 'variant'>;

export interface CachingSourceOptions {
  cache: SnippetCache;
  policy: CachePolicy;
  keyOf(parts: CacheKeyParts): string;
  endpoints: readonly CacheEndpoint[];
  /** Whether an answer may be stored. One that contains the API key may not. */
  mayKeep(request: SnippetRequest, entry: CacheEntry): boolean;
  /** Whether the site has already shown a newer content, which a refresh could not write into this cache. */
  isSuperseded(request: SnippetRequest, entry: CacheEntry): boolean;
}

/** The service with a cache in front of it. */
export class CachingSource implements SnippetSource {
  readonly #service: SnippetSource;
  readonly #options: CachingSourceOptions;
  #cached = 0;

  constructor(service: SnippetSource, options: CachingSourceOptions) {
    this.#service = service;
    this.#options = options;
  }

  get counts(): SnippetSource['counts'] {
    return { ...this.#service.counts, cached: this.#cached };
  }

  get routeMissing(): SnippetSource['routeMissing'] {
    return this.#service.routeMissing;
  }

  async fetch(request: SnippetRequest, signal?: AbortSignal): Promise<SourcedSnippet> {
    const { policy, isSuperseded } = this.#options;
    const start = Date.now();
    if (policy.offline) return this.#getOffline(request, start);
    const cached = policy.maxAge > 0 ? await this.#read(request) : undefined;
    if (cached !== undefined && isYounger(cached, policy.maxAge, start) && !isSuperseded(request, cached)) {
      return this.#use(cached, start);
    }
    try {
      const snippet = await this.#service.fetch(request, signal);
      this.#write(request, snippet);
      return snippet;
    } catch (error) {
      if (!(error instanceof SnippetError) || !isTrouble(error.code) || policy.staleIfError === 0)
        throw error;
      const last = cached ?? (await this.#read(request));
      if (last === undefined || !isYounger(last, policy.staleIfError, start)) throw error;
      if (this.#refuseSuperseded(request, last)) throw error;
      return { ...this.#use(last, start), error };
    }
  }

  async close(): Promise<void> {
    await this.#service.close();
    await this.#options.cache.close();
  }

  async #getOffline(request: SnippetRequest, start: number): Promise<SourcedSnippet> {
    const cached = await this.#read(request);
    if (cached === undefined) {
      throw new SiteError('not-cached', 'is not in the cache, and `offline` is set.', request.id);
    }
    if (!this.#refuseSuperseded(request, cached)) return this.#use(cached, start);
    const reason = 'is in the cache only as it was before the site was refreshed, and `offline` is set.';
    throw new SiteError('not-cached', reason, request.id);
  }

  /** The record that tells is gone after a build that fails, so what it tells of is removed: the next build may not know. */
  #refuseSuperseded(request: SnippetRequest, entry: CacheEntry): boolean {
    const { cache, endpoints, keyOf, isSuperseded } = this.#options;
    if (!isSuperseded(request, entry)) return false;
    const { id, params } = request;
    for (const endpoint of endpoints) cache.remove(keyOf({ ...endpoint, id, params }));
    return true;
  }

  #use(entry: CacheEntry, start: number): SourcedSnippet {
    this.#cached += 1;
    return { ...entry, milliseconds: Date.now() - start };
  }

  /** The latest answer of either variant. */
  async #read({ id, params }: SnippetRequest): Promise<CacheEntry | undefined> {
    const { cache, endpoints, keyOf } = this.#options;
    const entries = await Promise.all(
      endpoints.map((endpoint) => cache.read(keyOf({ ...endpoint, id, params }))),
    );
    return entries.filter((entry) => entry !== undefined).sort((a, b) => b.fetchedAt - a.fetchedAt)[0];
  }

  #write(request: SnippetRequest, { content, variant, name }: Snippet): void {
    const { id, params } = request;
    const { cache, endpoints, keyOf, mayKeep } = this.#options;
    const endpoint = endpoints.find((one) => one.variant === variant);
    if (endpoint === undefined) return;
    const entry = { content, variant, fetchedAt: Date.now(), ...(name === undefined ? {} : { name }) };
    if (mayKeep(request, entry)) cache.write(keyOf({ ...endpoint, id, params }), entry);
  }
}

/** Whether the last good content may be used instead: only if the service is in trouble, not if it refuses. */
export function isTrouble(code: SnippetErrorCode): boolean {
  return errors[code].effect === 'children';
}
