import type { Clock } from '../client/clock.ts';
import { BoundedMap } from './bounded-map.ts';

/** How a {@link LiveMemory} keeps contents. Times are in milliseconds. */
export interface LiveMemoryOptions<Content> {
  /** How old a content may be to be used; 0 for no memory. */
  maxAge: number;
  clock: Clock;
  /** Whether a request may be waited for by others than the one who made it, and outlive their wait. */
  sharesRequests: boolean;
  /** Whether an error says that the content must not be shown any more, and not that the service is in trouble. */
  isRefusal(error: unknown): boolean;
  /** Called when an old content is used because there is no current one. */
  onOutage(error: unknown): void;
  /** How much of the memory a content takes, in characters. */
  sizeOf(content: Content): number;
}

interface RememberedContent<Content> {
  content: Content;
  fetchedAt: number;
  /** When the content may be asked for again: readers come many times a second. */
  dueAt: number;
}

/** How long after an answer the same content is asked for again, in milliseconds; longer while answers fail. */
const askAgainAfter = 1_000;
const askAgainAfterFailure = 5_000;

/** The most contents that are kept, and the most characters of them: params make many contents out of few snippets. */
const maxContents = 1_000;
const maxSize = 10_000_000;

/**
 * The last contents of live snippets, by keys. A content is used at once and asked for again meanwhile, so that a
 * reader neither waits for the service nor sees a page without content while the service is down.
 */
export class LiveMemory<Content> {
  readonly #options: LiveMemoryOptions<Content>;
  readonly #contents = new BoundedMap<RememberedContent<Content>>({ count: maxContents, size: maxSize });
  readonly #requests = new Map<string, Promise<Content>>();
  #isInOutage = false;
  /** How often something was forgotten: an answer to an earlier request may be the old content. */
  #timesForgotten = 0;

  constructor(options: LiveMemoryOptions<Content>) {
    this.#options = options;
  }

  /** @param ask asks the service. @throws what `ask` throws, if there is no content that may be used instead */
  async get(key: string, ask: () => Promise<Content>): Promise<Content> {
    const remembered = this.#recall(key);
    const { clock, sharesRequests } = this.#options;
    if (!remembered) return this.#request(key, ask);
    if (clock.now() < remembered.dueAt) return remembered.content;

    const request = this.#request(key, ask);
    if (sharesRequests) {
      // Errors are handled in `#noteFailure`. The next reader sees the outcome.
      request.catch(() => {});
      return remembered.content;
    }
    try {
      return await request;
    } catch (error) {
      if (this.#options.isRefusal(error)) throw error;
      return remembered.content;
    }
  }

  /** Forgets the contents of these keys, also those that are on their way. */
  forget(isForgotten: (key: string) => boolean): void {
    this.#timesForgotten += 1;
    for (const map of [this.#contents, this.#requests]) {
      for (const key of map.keys()) if (isForgotten(key)) map.delete(key);
    }
  }

  /** The content of a key, unless it is too old. */
  #recall(key: string): RememberedContent<Content> | undefined {
    const remembered = this.#contents.get(key);
    if (!remembered) return undefined;
    if (this.#options.clock.now() <= remembered.fetchedAt + this.#options.maxAge) return remembered;
    this.#contents.delete(key);
    return undefined;
  }

  #request(key: string, ask: () => Promise<Content>): Promise<Content> {
    const current = this.#requests.get(key);
    if (current && this.#options.sharesRequests) return current;
    const request = this.#ask(key, ask).finally(() => {
      if (this.#requests.get(key) === request) this.#requests.delete(key);
    });
    this.#requests.set(key, request);
    return request;
  }

  async #ask(key: string, ask: () => Promise<Content>): Promise<Content> {
    const startedAt = this.#options.clock.now();
    const timesForgotten = this.#timesForgotten;
    try {
      const content = await ask();
      this.#isInOutage = false;
      if (timesForgotten === this.#timesForgotten)
        this.#keep(key, { content, fetchedAt: startedAt, dueAt: startedAt + askAgainAfter });
      return content;
    } catch (error) {
      this.#noteFailure(key, error, startedAt);
      throw error;
    }
  }

  #keep(key: string, remembered: RememberedContent<Content>): void {
    if (this.#options.maxAge === 0) return;
    // Where requests are not shared, an earlier one may end later.
    if ((this.#contents.get(key)?.fetchedAt ?? 0) > remembered.fetchedAt) return;
    this.#contents.set(key, remembered, key.length + this.#options.sizeOf(remembered.content));
  }

  #noteFailure(key: string, error: unknown, now: number): void {
    if (this.#options.isRefusal(error)) {
      this.#contents.delete(key);
      return;
    }
    const remembered = this.#contents.get(key);
    if (!remembered) return;
    remembered.dueAt = now + askAgainAfterFailure;
    // One warning for an outage, and not one for each reader.
    if (!this.#isInOutage) this.#options.onOutage(error);
    this.#isInOutage = true;
  }
}
