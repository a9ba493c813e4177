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

interface ServedPage {
  /** By the keys of requests. */
  entries: Map<string, Entry>;
  /** How often there had been new styles when the page was served. */
  styles: number;
}

/**
 * The snippets on pages that are open in a browser. Browsers do not say which pages these are, but each has one
 * connection: they are the pages that were served last, as many as there are connections.
 */
export class OpenPages {
  readonly #served = new Map<string, ServedPage>();
  /** How often there were new styles. */
  #styles = 0;

  /** @param shown what the page shows, by the keys of requests. */
  serve(page: string, shown: ReadonlyMap<string, ShownOnPage>): void {
    this.#served.delete(page);
    if (shown.size > 0) this.addTo(page, shown);
  }

  /** Adds what a page has fetched after it was served, such as JSON or a server island. */
  addTo(page: string, shown: ReadonlyMap<string, ShownOnPage>): void {
    const served = this.#served.get(page) ?? { entries: new Map<string, Entry>(), styles: this.#styles };
    for (const [key, one] of shown) {
      const look = lookOf(one.snippet, one);
      served.entries.set(key, { ...one, served: look, told: look });
    }
    this.#served.set(page, served);
  }

  keys(connections: number): Set<string> {
    const pages = [...this.#served.keys()].reverse();
    for (const old of pages.slice(Math.max(connections, 100))) this.#served.delete(old);
    return new Set(pages.slice(0, connections).flatMap((page) => this.of(page)));
  }

  /** The pages with a snippet. */
  showing(key: string): string[] {
    return [...this.#served].filter(([, { entries }]) => entries.has(key)).map(([page]) => page);
  }

  of(page: string): string[] {
    return [...(this.#served.get(page)?.entries.keys() ?? [])];
  }

  /** Whether each embed of a snippet on a page is optional. */
  isOptional(page: string, key: string): boolean {
    return this.#served.get(page)?.entries.get(key)?.isOptional === true;
  }

  /** The pages on which a snippet looks different now. Each page is named once for each change. */
  changed(key: string): string[] {
    const pages: string[] = [];
    for (const [page, { entries }] of this.#served) {
      const entry = entries.get(key);
      if (entry === undefined) continue;
      const look = lookOf(entry.snippet, entry);
      if (look !== entry.told) pages.push(page);
      entry.told = look;
    }
    return pages;
  }

  /** There are new styles for the classes of snippets. Returns the pages that were served without them. */
  restyle(): string[] {
    this.#styles += 1;
    return [...this.#served.keys()];
  }

  /** Whether a page looked different when it was served, so that it may have missed a change while it was loading. */
  isOutdated(page: string): boolean {
    const served = this.#served.get(page);
    if (served === undefined) return false;
    if (served.styles !== this.#styles) return true;
    return [...served.entries.values()].some((entry) => entry.served !== lookOf(entry.snippet, entry));
  }
}
