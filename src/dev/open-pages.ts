/**
 * The snippets on pages that are open in a browser. Browsers do not say which pages these are, but each has one
 * connection: they are the pages that were served last, as many as there are connections.
 */
export class OpenPages {
  readonly #served = new Map<string, readonly string[]>();

  /** @param keys the snippets on the page. */
  serve(page: string, keys: readonly string[]): void {
    this.#served.delete(page);
    this.#served.set(page, keys);
  }

  keys(connections: number): Set<string> {
    const pages = [...this.#served.keys()].reverse();
    for (const old of pages.slice(Math.max(connections, 100))) this.#served.delete(old);
    return new Set(pages.slice(0, connections).flatMap((page) => this.#served.get(page) ?? []));
  }

  /** The pages with a snippet. */
  showing(key: string): string[] {
    return [...this.#served].filter(([, keys]) => keys.includes(key)).map(([page]) => page);
  }

  of(page: string): readonly string[] {
    return this.#served.get(page) ?? [];
  }
}
