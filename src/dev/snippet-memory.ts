import { hash } from 'node:crypto';
import { SnippetError } from '../client/snippet-error.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { effectOf, isMissing, isSnippetFailure, type SnippetFailure } from '../failures/errors.ts';
import type { FetchedSnippet, ShownAs } from '../snippets/fetch-snippets.ts';
import type { SnippetUse } from '../snippets/file-embeds.ts';

/** The latest state of a snippet. It has content, an error or, while the service is down, both. */
export interface RememberedSnippet {
  request: SnippetRequest;
  asHtml: boolean;
  content?: FetchedSnippet | undefined;
  /** Why there is no content, or why it may be outdated. */
  error?: SnippetFailure | undefined;
  /** When the content was last known to be current, in milliseconds since the epoch. */
  checkedAt?: number;
  /** From when on the service may be asked again, in milliseconds since the epoch. */
  dueAt: number;
  /** How often the service has been in trouble, one after another. */
  failures: number;
  /** While the service is asked. */
  update?: Promise<void> | undefined;
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

  constructor(fetch: (use: ShownAs) => Promise<FetchedSnippet>, warn: (line: string) => void) {
    this.#fetch = fetch;
    this.#warn = warn;
  }

  /** @param isLast whether nothing asks again after this view, so that it waits for an update that is due. */
  async get({ request, asHtml }: ShownAs, isLast: boolean): Promise<RememberedSnippet> {
    const known = this.#snippets.get(request.key) ?? { request, asHtml, dueAt: 0, failures: 0 };
    this.#snippets.set(request.key, known);
    // Shown as text only until now, so the rules for HTML were not applied.
    const needsRules = asHtml && !known.asHtml;
    known.asHtml ||= asHtml;
    if (needsRules || (known.content === undefined && known.error === undefined)) await this.update(known);
    else if (Date.now() >= known.dueAt) {
      const update = this.update(known);
      if (isLast) await update;
      else update.catch(() => {});
    }
    return known;
  }

  /** Fetches a snippet again as soon as that is due. While the service is in trouble, who asks may have to ask again. */
  async updateWhenDue(snippet: RememberedSnippet): Promise<void> {
    const { dueAt } = snippet;
    const wait = dueAt - Date.now();
    if (wait > pause) return;
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait).unref());
    // Another page may have asked in the meantime.
    if (dueAt === snippet.dueAt) await this.update(snippet);
  }

  /** Fetches a snippet again now; once for all who ask at the same time. */
  update(snippet: RememberedSnippet): Promise<void> {
    snippet.update ??= this.#update(snippet).finally(() => {
      snippet.update = undefined;
    });
    return snippet.update;
  }

  async #update(snippet: RememberedSnippet): Promise<void> {
    const hadError = snippet.error !== undefined;
    const start = Date.now();
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
    }
    const { error, content, request } = snippet;
    if (error !== undefined && content !== undefined && !hadError) {
      this.#warn(`${error.message} Snippet ${request.id} is shown as it was last fetched.`);
    }
    snippet.failures = error === undefined || effectOf(error) === 'fail' ? 0 : snippet.failures + 1;
    snippet.dueAt = start + Math.min(pause * 2 ** snippet.failures, longestPause);
  }
}

/** That the client has stopped asking says less than why it has. */
function reasonOf(now: SnippetFailure, before: SnippetFailure | undefined): SnippetFailure {
  return now.code === 'unavailable' && before !== undefined && effectOf(before) === 'children' ? before : now;
}

/** A snippet on a page. */
export interface ShownOnPage {
  use: SnippetUse;
  snippet: RememberedSnippet;
}

// In milliseconds. A page that is hidden does not ask.
const forgottenAfter = 10 * 60 * 1000;

/** What each page of a dev server shows, for as long as a browser asks whether that has changed. */
export class ServedPages {
  readonly #pages = new Map<string, { shown: readonly ShownOnPage[]; seenAt: number }>();
  #styles = 0;

  /** @returns the hash of what the page shows. */
  serve(page: string, shown: readonly ShownOnPage[]): string {
    for (const [name, { seenAt }] of this.#pages) {
      if (Date.now() - seenAt > forgottenAfter) this.#pages.delete(name);
    }
    this.#pages.set(page, { shown, seenAt: Date.now() });
    return this.#hashOf(shown);
  }

  /** The snippets of a page that asks whether they have changed. */
  snippets(page: string): RememberedSnippet[] {
    const served = this.#pages.get(page);
    if (served === undefined) return [];
    served.seenAt = Date.now();
    return served.shown.map(({ snippet }) => snippet);
  }

  /** Each page that was served until now has to load again: there are new styles for the classes of snippets. */
  restyle(): void {
    this.#styles += 1;
  }

  /** @param hash of what the page showed. Where nothing is known of the page, it may be anything. */
  hasChanged(page: string, hash: string): boolean {
    const served = this.#pages.get(page);
    return served === undefined || hash !== this.#hashOf(served.shown);
  }

  #hashOf(shown: readonly ShownOnPage[]): string {
    return hash('sha256', JSON.stringify([this.#styles, ...shown.map(lookOf)])).slice(0, 16);
  }
}

/** What a page shows of a snippet, as text that is equal if a reader sees no difference. */
function lookOf({ use, snippet: { content, error } }: ShownOnPage): string {
  if (content !== undefined) return JSON.stringify([content.html, content.text]);
  if (error === undefined) return '';
  const hasChildren = effectOf(error) === 'children' && use.placesWithoutChildren.length === 0;
  return (isMissing(error) ? isOptional(use) : hasChildren) ? 'children' : failureLook(error);
}

/** Whether each embed of a snippet on a page is optional. */
export function isOptional({ optionalPlaces }: SnippetUse): boolean {
  return optionalPlaces !== undefined && optionalPlaces.size > 0;
}

/** What distinguishes one failure from another. Its sentence does not, since it counts attempts and seconds. */
export function failureLook(error: SnippetFailure): string {
  return error instanceof SnippetError
    ? JSON.stringify([error.code, error.status, error.title, error.detail, error.type])
    : JSON.stringify([error.code, error.reason]);
}
