import type { SnippetRequest } from '../client/snippet-request.ts';
import { effectOf, isSnippetFailure, type SnippetFailure } from '../failures/errors.ts';
import type { FetchedSnippet, ShownAs } from '../snippets/fetch-snippets.ts';

/** The latest state of a snippet. It has content, an error or, while the service is down, both. */
export interface RememberedSnippet {
  request: SnippetRequest;
  asHtml: boolean;
  content?: FetchedSnippet | undefined;
  /** Why there is no content, or why it may be outdated. */
  error?: SnippetFailure | undefined;
  /** When the content was last known to be current, in milliseconds since the epoch. */
  checkedAt?: number;
  /** How long the last answer took. */
  milliseconds?: number;
  /** From when on the service may be asked again, in milliseconds since the epoch. */
  dueAt: number;
  /** How often the service has been in trouble, one after another. */
  failures: number;
}

// In milliseconds: from one request for a snippet to the next, and while the service is in trouble.
const pause = 2_000;
const longestPause = 10_000;

/**
 * The snippets of a dev server. The first view of a snippet waits for the service. It is asked for each at most once in
 * two seconds, however many pages are open, and less often while it is in trouble.
 */
export class SnippetMemory {
  readonly #fetch: (use: ShownAs) => Promise<FetchedSnippet>;
  readonly #warn: (line: string) => void;
  readonly #snippets = new Map<string, RememberedSnippet>();
  readonly #updates = new Map<string, Promise<void>>();

  constructor(fetch: (use: ShownAs) => Promise<FetchedSnippet>, warn: (line: string) => void) {
    this.#fetch = fetch;
    this.#warn = warn;
  }

  /** @param isLast whether nothing asks again after this view, so that it waits for an update that is due. */
  async get({ request, asHtml }: ShownAs, isLast: boolean): Promise<RememberedSnippet> {
    const { key } = request;
    const known = this.#snippets.get(key) ?? { request, asHtml, dueAt: 0, failures: 0 };
    this.#snippets.set(key, known);
    // Shown as text only until now, so the rules for HTML were not applied.
    const needsRules = asHtml && !known.asHtml;
    known.asHtml ||= asHtml;
    if (needsRules || (known.content === undefined && known.error === undefined)) await this.update(key);
    else if (Date.now() >= known.dueAt) {
      const update = this.update(key);
      if (isLast) await update;
      else update.catch(() => {});
    }
    return known;
  }

  /** Fetches a snippet again as soon as that is due. While the service is in trouble, who asks may have to ask again. */
  async updateWhenDue(key: string): Promise<void> {
    const { dueAt = 0 } = this.#snippets.get(key) ?? {};
    const wait = dueAt - Date.now();
    if (wait > pause) return;
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait).unref());
    // Another page may have asked in the meantime.
    await (dueAt === this.#snippets.get(key)?.dueAt ? this.update(key) : this.#updates.get(key));
  }

  /** Fetches a snippet again now; once for all who ask at the same time. */
  update(key: string): Promise<void> {
    const snippet = this.#snippets.get(key);
    if (snippet === undefined) return Promise.resolve();
    const update = this.#updates.get(key) ?? this.#update(snippet).finally(() => this.#updates.delete(key));
    this.#updates.set(key, update);
    return update;
  }

  async #update(snippet: RememberedSnippet): Promise<void> {
    const hadError = snippet.error !== undefined;
    const start = performance.now();
    snippet.dueAt = Date.now() + pause;
    try {
      const content = await this.#fetch(snippet);
      if (content.html !== snippet.content?.html) content.warnings.forEach(this.#warn);
      Object.assign(snippet, { content, error: content.error, checkedAt: content.fetchedAt ?? Date.now() });
    } catch (error) {
      if (!isSnippetFailure(error)) throw error;
      // Says nothing about the service: the dev server is stopping, or its settings have changed.
      if (error.code === 'closed') return;
      snippet.error = reasonOf(error, snippet.error);
      if (effectOf(error) !== 'children') snippet.content = undefined;
    } finally {
      snippet.milliseconds = performance.now() - start;
    }
    const { error, content, request } = snippet;
    if (error !== undefined && content !== undefined && !hadError) {
      this.#warn(`${error.message} Snippet ${request.id} is shown as it was last fetched.`);
    }
    snippet.failures = error === undefined || effectOf(error) === 'fail' ? 0 : snippet.failures + 1;
    snippet.dueAt += Math.min(pause * 2 ** snippet.failures, longestPause) - pause;
  }
}

/** That the client has stopped asking says less than why it has. */
function reasonOf(now: SnippetFailure, before: SnippetFailure | undefined): SnippetFailure {
  return now.code === 'unavailable' && before !== undefined && effectOf(before) === 'children' ? before : now;
}
