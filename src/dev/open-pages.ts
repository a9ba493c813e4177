import { type Look, lookOf, type ShowsChildren } from './look.ts';
import type { RememberedSnippet } from './snippet-memory.ts';

/** A snippet on a page. */
export interface ShownOnPage extends ShowsChildren {
  snippet: RememberedSnippet;
}

interface Entry extends ShownOnPage {
  /** How it looked when the page was served. */
  served: Look;
  /** The last look that the page was told about. */
  told: Look;
}

/**
 * The snippets on pages that are open in a browser. Browsers do not say which pages these are, but each has one
 * connection: they are the pages that were served last, as many as there are connections.
 */
export class OpenPages {
  readonly #served = new Map<string, Map<string, Entry>>();

  /** @param shown what the page shows, by the keys of requests. */
  serve(page: string, shown: ReadonlyMap<string, ShownOnPage>): void {
    this.#served.delete(page);
    if (shown.size > 0) this.addTo(page, shown);
  }

  /** Adds what a page has fetched after it was served, such as JSON or a server island. */
  addTo(page: string, shown: ReadonlyMap<string, ShownOnPage>): void {
    const entries = this.#served.get(page) ?? new Map<string, Entry>();
    for (const [key, one] of shown) {
      const look = lookOf(one.snippet, one);
      entries.set(key, { ...one, served: look, told: look });
    }
    this.#served.set(page, entries);
  }

  keys(connections: number): Set<string> {
    const pages = [...this.#served.keys()].reverse();
    for (const old of pages.slice(Math.max(connections, 100))) this.#served.delete(old);
    return new Set(pages.slice(0, connections).flatMap((page) => this.of(page)));
  }

  /** The pages with a snippet. */
  showing(key: string): string[] {
    return [...this.#served].filter(([, entries]) => entries.has(key)).map(([page]) => page);
  }

  of(page: string): string[] {
    return [...(this.#served.get(page)?.keys() ?? [])];
  }

  /** Whether each embed of a snippet on a page is optional. */
  isOptional(page: string, key: string): boolean {
    return this.#served.get(page)?.get(key)?.isOptional === true;
  }

  /** The pages on which a snippet looks different now. Each page is named once for each change. */
  changed(key: string): string[] {
    const pages: string[] = [];
    for (const [page, entries] of this.#served) {
      const entry = entries.get(key);
      if (entry === undefined) continue;
      const look = lookOf(entry.snippet, entry);
      if (look !== entry.told) pages.push(page);
      entry.told = look;
    }
    return pages;
  }

  /** Whether a page looked different when it was served, so that it may have missed a change while it was loading. */
  isOutdated(page: string): boolean {
    const entries = [...(this.#served.get(page)?.values() ?? [])];
    return entries.some((entry) => entry.served !== lookOf(entry.snippet, entry));
  }
}
