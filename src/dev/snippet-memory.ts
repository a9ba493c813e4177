import type { Variant } from '../client/service-url.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { effectOf, isSnippetFailure, type SnippetFailure } from '../failures/errors.ts';
import type { FetchedSnippet, ShownAs } from '../snippets/fetch-snippets.ts';

/** The latest state of a snippet. It has content, an error or, while the service is down, both. */
export interface RememberedSnippet {
  request: SnippetRequest;
  asHtml: boolean;
  content?: string;
  /** The content as it is inlined: as HTML, and as text. */
  html?: string;
  text?: string;
  /** As HTML in files that are no pages, if it differs. */
  htmlElsewhere?: string | undefined;
  name?: string | undefined;
  variant?: Variant;
  /** Why there is no content, or why it may be outdated. */
  error?: SnippetFailure | undefined;
  /** When the content was last known to be current, in milliseconds since the epoch. */
  checkedAt?: number;
  /** How long the last answer took. */
  milliseconds?: number;
}

/** What pages show of a snippet; `undefined` if it has no content. */
export function shownContent({
  html,
  text,
  htmlElsewhere,
}: RememberedSnippet): Pick<FetchedSnippet, 'html' | 'text' | 'htmlElsewhere'> | undefined {
  return html === undefined || text === undefined ? undefined : { html, text, htmlElsewhere };
}

export interface MemoryEvents {
  /** The service was asked again. Pages with this snippet may look different now. */
  onUpdate(snippet: RememberedSnippet): void;
  /** The service is down, and the last content is shown. Called once per outage. */
  onStale(snippet: RememberedSnippet): void;
  /** The service is back, and the content is current again. */
  onRecovered(snippet: RememberedSnippet): void;
  /** The content has a flaw. Called once per content. */
  onFlaw(flaw: string): void;
}

const freshMilliseconds = 1_000;

/**
 * The snippets of a dev server. The first view of a snippet waits for the service. Later views get what is remembered
 * at once, and the snippet is updated in the background.
 */
export class SnippetMemory {
  readonly #fetch: (use: ShownAs) => Promise<FetchedSnippet>;
  readonly #events: MemoryEvents;
  readonly #snippets = new Map<string, RememberedSnippet>();
  readonly #updates = new Map<string, Promise<void>>();

  constructor(fetch: (use: ShownAs) => Promise<FetchedSnippet>, events: MemoryEvents) {
    this.#fetch = fetch;
    this.#events = events;
  }

  async get({ request, asHtml }: ShownAs): Promise<RememberedSnippet> {
    const { key } = request;
    const known = this.#snippets.get(key);
    if (known === undefined) {
      const snippet = { request, asHtml };
      this.#snippets.set(key, snippet);
      await this.update(key);
      return snippet;
    }
    // Shown as text only until now, so the rules for HTML were not applied.
    const needsRules = asHtml && !known.asHtml;
    known.asHtml ||= asHtml;
    if (needsRules || (known.content === undefined && known.error === undefined)) await this.update(key);
    else if (Date.now() - (known.checkedAt ?? 0) > freshMilliseconds) this.update(key).catch(() => {});
    return known;
  }

  peek(key: string): RememberedSnippet | undefined {
    return this.#snippets.get(key);
  }

  /** Fetches a snippet again; once for all who ask at the same time. */
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
    try {
      const { html, warnings, error, fetchedAt, ...fetched } = await this.#fetch(snippet);
      const { content, text, htmlElsewhere, name, variant } = fetched;
      if (html !== snippet.html) for (const warning of warnings) this.#events.onFlaw(warning);
      const isNews = error !== undefined && snippet.error === undefined;
      const checkedAt = fetchedAt ?? Date.now();
      Object.assign(snippet, { content, html, text, htmlElsewhere, name, variant, error, checkedAt });
      if (isNews) this.#events.onStale(snippet);
    } catch (error) {
      if (!isSnippetFailure(error)) throw error;
      // Says nothing about the service: the dev server is stopping, or its settings have changed.
      if (error.code === 'closed') return;
      const isNews = snippet.error === undefined;
      snippet.error = reasonOf(error, snippet.error);
      if (effectOf(error) === 'children' && snippet.content !== undefined) {
        if (isNews) this.#events.onStale(snippet);
        return;
      }
      for (const field of ['content', 'html', 'text', 'htmlElsewhere'] as const) delete snippet[field];
    } finally {
      snippet.milliseconds = performance.now() - start;
    }
    this.#events.onUpdate(snippet);
    if (hadError && snippet.error === undefined) this.#events.onRecovered(snippet);
  }
}

/** That the client has stopped asking says less than why it has. */
function reasonOf(now: SnippetFailure, before: SnippetFailure | undefined): SnippetFailure {
  return now.code === 'unavailable' && before !== undefined && effectOf(before) === 'children' ? before : now;
}
