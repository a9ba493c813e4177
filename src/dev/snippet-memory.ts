import type { Variant } from '../client/service-url.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { effectOf, isSnippetFailure, type SnippetFailure } from '../failures/errors.ts';
import type { FetchedSnippet, ShownAs } from '../snippets/fetch-snippets.ts';
import { refuseKey, type Trial, type Tried } from './trial.ts';

/** The latest state of a snippet. It has content, an error or, while the service is down, both. */
export interface RememberedSnippet {
  request: SnippetRequest;
  asHtml: boolean;
  surroundings: NonNullable<ShownAs['surroundings']>;
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
  /** What is shown instead. */
  trial?: Trial | undefined;
}

/** What pages show of a snippet; `undefined` if there is neither a content nor a trial. */
export function shownContent({
  html,
  text,
  htmlElsewhere,
  trial,
}: RememberedSnippet): Pick<Trial, 'html' | 'text' | 'htmlElsewhere'> | undefined {
  if (trial !== undefined) return trial;
  return html === undefined || text === undefined ? undefined : { html, text, htmlElsewhere };
}

/** Where snippets come from. */
export interface ContentSource {
  fetch(use: ShownAs): Promise<FetchedSnippet>;
  /** Prepares a text that the service has not sent, by the same rules. */
  prepare(text: string, use: ShownAs): Promise<Omit<Trial, 'tried'>>;
}

export interface MemoryEvents {
  /** The service was asked again. Pages with this snippet may look different now. */
  onUpdate(snippet: RememberedSnippet): void;
  /** The service is down, and the last content is shown. Called once per outage. */
  onStale(snippet: RememberedSnippet): void;
  /** The service is back, and the content is current again. */
  onRecovered(snippet: RememberedSnippet): void;
  /** A trial ended without being taken back, or updating it failed, or succeeded again. */
  onTrial(snippet: RememberedSnippet): void;
  /** The content has a flaw. Called once per content. */
  onFlaw(flaw: string): void;
}

const freshMilliseconds = 1_000;

/**
 * The snippets of a dev server. The first view of a snippet waits for the service. Later views get what is remembered
 * at once, and the snippet is updated in the background.
 */
export class SnippetMemory {
  readonly #source: ContentSource;
  readonly #events: MemoryEvents;
  readonly #snippets = new Map<string, RememberedSnippet>();
  readonly #updates = new Map<string, Promise<void>>();
  /** What was tried last of each snippet. Something tried before may be prepared later. */
  readonly #lastTried = new Map<string, Tried>();

  constructor(source: ContentSource, events: MemoryEvents) {
    this.#source = source;
    this.#events = events;
  }

  async get({ request, asHtml, surroundings = new Set() }: ShownAs): Promise<RememberedSnippet> {
    const { key } = request;
    const known = this.#snippets.get(key);
    if (known === undefined) {
      const snippet = { request, asHtml, surroundings: new Set(surroundings) };
      this.#snippets.set(key, snippet);
      await this.update(key);
      return snippet;
    }
    // Shown as text only until now, or in other surroundings, so these rules for HTML were not applied.
    const needsRules =
      (asHtml && !known.asHtml) || [...surroundings].some((one) => !known.surroundings.has(one));
    known.asHtml ||= asHtml;
    for (const one of surroundings) known.surroundings.add(one);
    if (needsRules) await this.#renewTrial(known, { mayStay: false });
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
    const update =
      this.#updates.get(key) ?? this.#updateAll(snippet).finally(() => this.#updates.delete(key));
    this.#updates.set(key, update);
    return update;
  }

  /**
   * Shows something else for a snippet, on all pages, whatever the service sends for it in the meantime.
   *
   * @throws SnippetError, SiteError or AstroError if it cannot be shown. Then pages stay as they are.
   */
  async try(key: string, tried: Tried): Promise<void> {
    const snippet = this.#snippets.get(key);
    if (snippet === undefined) return;
    if (tried.kind === 'params' && tried.request.key === key) return this.endTrial(key);
    this.#lastTried.set(key, tried);
    const trial = await this.#prepareTrial(snippet, tried);
    if (this.#lastTried.get(key) !== tried) return;
    snippet.trial = trial;
    this.#events.onUpdate(snippet);
  }

  /** Shows the service's text again. */
  endTrial(key: string): void {
    this.#lastTried.delete(key);
    const snippet = this.#snippets.get(key);
    if (snippet?.trial === undefined) return;
    delete snippet.trial;
    this.#events.onUpdate(snippet);
  }

  async #prepareTrial(snippet: RememberedSnippet, tried: Tried): Promise<Trial> {
    const rules = rulesOf(snippet);
    const prepared: Omit<Trial, 'tried'> =
      tried.kind === 'text'
        ? await this.#source.prepare(tried.text, snippet)
        : await this.#source.fetch({ ...snippet, request: tried.request });
    // While it was fetched, a page has begun to show it in other surroundings.
    if (rulesOf(snippet) !== rules) return this.#prepareTrial(snippet, tried);
    const { html, text, htmlElsewhere, warnings, error } = prepared;
    for (const content of [html, text]) refuseKey(content);
    return { tried, html, text, htmlElsewhere, warnings, error };
  }

  /** @param mayStay whether a trial that fails is shown as it was. Otherwise other rules apply, and it ends. */
  async #renewTrial(snippet: RememberedSnippet, { mayStay }: { mayStay: boolean }): Promise<void> {
    const { trial } = snippet;
    if (trial === undefined || (mayStay && trial.tried.kind === 'text')) return;
    const renewed = await this.#prepareTrial(snippet, trial.tried).catch((error: Error) => {
      return mayStay ? { ...trial, error: isClosed(error) ? trial.error : error } : undefined;
    });
    if (snippet.trial !== trial) return;
    snippet.trial = renewed;
    this.#events.onUpdate(snippet);
    if (renewed?.error?.message !== trial.error?.message || renewed === undefined)
      this.#events.onTrial(snippet);
  }

  async #updateAll(snippet: RememberedSnippet): Promise<void> {
    await Promise.all([this.#update(snippet), this.#renewTrial(snippet, { mayStay: true })]);
  }

  async #update(snippet: RememberedSnippet): Promise<void> {
    const hadError = snippet.error !== undefined;
    const start = performance.now();
    try {
      const { html, warnings, error, fetchedAt, ...fetched } = await this.#source.fetch(snippet);
      const { content, text, htmlElsewhere, name, variant } = fetched;
      if (html !== snippet.html) for (const warning of warnings) this.#events.onFlaw(warning);
      const isNews = error !== undefined && snippet.error === undefined;
      const checkedAt = fetchedAt ?? Date.now();
      Object.assign(snippet, { content, html, text, htmlElsewhere, name, variant, error, checkedAt });
      if (isNews) this.#events.onStale(snippet);
    } catch (error) {
      if (!isSnippetFailure(error)) throw error;
      if (isClosed(error)) return;
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

/** Says nothing about the service: the dev server is stopping, or its settings have changed. */
function isClosed(error: unknown): boolean {
  return isSnippetFailure(error) && error.code === 'closed';
}

/** What decides which rules apply. It only ever grows. */
function rulesOf({ asHtml, surroundings }: RememberedSnippet): string {
  return `${asHtml} ${surroundings.size}`;
}

/** That the client has stopped asking says less than why it has. */
function reasonOf(now: SnippetFailure, before: SnippetFailure | undefined): SnippetFailure {
  return now.code === 'unavailable' && before !== undefined && effectOf(before) === 'children' ? before : now;
}
