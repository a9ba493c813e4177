import type { Params } from './client/params.ts';
import type { Counts, RequestOptions, Snippet } from './client/snippet-client.ts';
import type { SnippetError } from './client/snippet-error.ts';

/** A snippet, and where it stands between the service and the cache. */
export interface SourcedSnippet extends Snippet {
  /** When the service gave it, in milliseconds since the epoch; nothing where that was just now. */
  fetchedAt?: number | undefined;
  /** Why the service did not give it now: it is the last good content, in its place. */
  error?: SnippetError | undefined;
}

/** What snippets are asked from: the service alone, or the service and a cache. */
export interface SnippetSource {
  /** @throws SnippetError */
  get(id: number, params?: Params, options?: RequestOptions): Promise<SourcedSnippet>;
  /** What the service was asked, and how many snippets the cache gave instead. */
  readonly counts: Readonly<Counts & { cached?: number }>;
  close(): Promise<void>;
}
