import { SnippetError } from '../client/snippet-error.ts';
import type { Variant } from '../client/variant.ts';
import { applyRules, type HtmlRules } from '../html-rules/apply-rules.ts';
import type { SnippetSource } from '../snippet-source.ts';
import { consequenceOf } from '../wanted/consequence.ts';
import type { WantedSnippet } from '../wanted/page-embeds.ts';

/** What is known of a snippet. It has a content, an error, or, while the service is down, both. */
export interface RememberedSnippet {
  key: string;
  id: number;
  params: string | undefined;
  asHtml: boolean;
  content?: string;
  /** The content as it stands in a page as HTML. */
  html?: string;
  name?: string;
  variant?: Variant;
  /** Why there is no content, or why it may be an old one. */
  error?: SnippetError;
  /** When the content was last known to be the service's, in milliseconds since the epoch. */
  checkedAt?: number;
  /** How long the last answer took. */
  milliseconds?: number;
}

export interface MemoryEvents {
  /** A page that shows this snippet would now be another one. */
  onChange(snippet: RememberedSnippet): void;
  /** The service is down: what is shown is the last content. Said once, until it is back. */
  onOld(snippet: RememberedSnippet): void;
  /** It is back: what is shown is the service's again. */
  onBack(snippet: RememberedSnippet): void;
  /** What is shown has a flaw. Said once, until the content is another. */
  onFlaw(flaw: string): void;
}

const freshFor = 1_000;

/**
 * The snippets of a dev server. The first one who asks for a snippet waits for the service; later ones get what
 * is remembered, at once, and the service is asked again behind their backs.
 */
export class SnippetMemory {
  readonly #source: SnippetSource;
  readonly #rules: () => HtmlRules;
  readonly #events: MemoryEvents;
  readonly #snippets = new Map<string, RememberedSnippet>();
  readonly #asking = new Map<string, Promise<void>>();

  constructor(source: SnippetSource, rules: () => HtmlRules, events: MemoryEvents) {
    this.#source = source;
    this.#rules = rules;
    this.#events = events;
  }

  async get(wanted: Pick<WantedSnippet, 'key' | 'id' | 'params' | 'asHtml'>): Promise<RememberedSnippet> {
    const known = this.#snippets.get(wanted.key);
    // Until now it was shown as text alone, under no rules.
    const isAsked = known === undefined || known.asHtml || !wanted.asHtml;
    if (known !== undefined) known.asHtml ||= wanted.asHtml;
    if (isAsked && known !== undefined && (known.content !== undefined || known.error !== undefined)) {
      if (Date.now() - (known.checkedAt ?? 0) > freshFor) void this.ask(wanted.key);
      return known;
    }
    const { key, id, params, asHtml } = wanted;
    const snippet = known ?? { key, id, params, asHtml };
    this.#snippets.set(key, snippet);
    await this.ask(key);
    return snippet;
  }

  peek(key: string): RememberedSnippet | undefined {
    return this.#snippets.get(key);
  }

  /** Asks the service for a snippet again; once, however many want to know. */
  ask(key: string): Promise<void> {
    const snippet = this.#snippets.get(key);
    if (snippet === undefined) return Promise.resolve();
    const asking = this.#asking.get(key) ?? this.#update(snippet).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }

  async #update(snippet: RememberedSnippet): Promise<void> {
    const before = { content: snippet.content, error: snippet.error?.message };
    const wasKnown = before.content !== undefined || before.error !== undefined;
    const start = performance.now();
    try {
      const params = snippet.params === undefined ? undefined : JSON.parse(snippet.params);
      const { error, fetchedAt, ...got } = await this.#source.get(snippet.id, params);
      const { html, warnings } = snippet.asHtml
        ? await applyRules(got, snippet, this.#rules())
        : { html: got.content, warnings: [] };
      if (html !== snippet.html) for (const warning of warnings) this.#events.onFlaw(warning);
      Object.assign(snippet, got, { html, checkedAt: fetchedAt ?? Date.now() });
      const isNews = error !== undefined && snippet.error === undefined;
      if (error === undefined) delete snippet.error;
      else snippet.error = error;
      if (isNews) this.#events.onOld(snippet);
    } catch (error) {
      if (!(error instanceof SnippetError)) throw error;
      // A client that is closed says nothing of the service: the dev server is on its way out.
      if (error.code === 'closed') return;
      const isDown = consequenceOf(error.code) === 'fallback';
      if (isDown && snippet.content !== undefined) {
        const isNews = snippet.error === undefined;
        snippet.error = error;
        if (isNews) this.#events.onOld(snippet);
        return;
      }
      delete snippet.content;
      snippet.error = error;
    } finally {
      snippet.milliseconds = performance.now() - start;
    }
    const isSame =
      before.content === snippet.content &&
      (snippet.content !== undefined || before.error === snippet.error?.message);
    if (wasKnown && !isSame) this.#events.onChange(snippet);
    else if (before.error !== undefined && snippet.error === undefined) this.#events.onBack(snippet);
  }
}
