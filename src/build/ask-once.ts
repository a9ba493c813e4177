import { canonicalParams, type Params } from '../client/params.ts';
import type { RequestOptions } from '../client/snippet-client.ts';
import { SnippetError } from '../client/snippet-error.ts';
import { unlessAborted } from '../client/unless-aborted.ts';
import type { SnippetSource, SourcedSnippet } from '../snippet-source.ts';
import { snippetKey } from '../wanted/snippet-key.ts';

/**
 * Asks for each snippet once, however often it is wanted and whenever. A failure is not kept: what failed early in a
 * build, while nobody was waiting for it, is asked for again when a page needs it.
 */
export class AskOnce implements SnippetSource {
  readonly #source: SnippetSource;
  readonly #asked = new Map<string, Promise<SourcedSnippet>>();

  constructor(source: SnippetSource) {
    this.#source = source;
  }

  get counts(): SnippetSource['counts'] {
    return this.#source.counts;
  }

  async get(id: number, params?: Params, options: RequestOptions = {}): Promise<SourcedSnippet> {
    const key = snippetKey(id, canonicalParams(params));
    const asked = this.#asked.get(key);
    if (asked === undefined) return this.#ask(key, id, params, options);
    const { signal } = options;
    try {
      return await (signal === undefined ? asked : unlessAborted(signal, asked));
    } catch (error) {
      if (signal?.aborted) {
        throw new SnippetError('aborted', `Snippet ${id}: the request was aborted.`, { snippetId: id });
      }
      // The one who asked first has lost interest; this one has not.
      if (error instanceof SnippetError && error.code === 'aborted') return this.get(id, params, options);
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#source.close();
  }

  #ask(
    key: string,
    id: number,
    params: Params | undefined,
    options: RequestOptions,
  ): Promise<SourcedSnippet> {
    const asked = this.#source.get(id, params, options);
    this.#asked.set(key, asked);
    asked.catch(() => this.#asked.delete(key));
    return asked;
  }
}
