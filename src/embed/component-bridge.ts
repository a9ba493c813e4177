/** The page of a `<Snippet>` in Astro's Container API, as for a feed, where the real page is unknown. */
export const containerPage = "a page of Astro's container";

/** A `<Snippet>` that failed, as far as the component knows where it is. */
export interface FailedComponent {
  /** The snippet's id as given; `undefined` for a snippet from `defineSnippet`. */
  id: string | undefined;
  /** The path of the page's URL; `undefined` if it is not known. */
  page: string | undefined;
  /** The names of the props. */
  props: readonly string[];
}

/** The place in the sources where a `<Snippet>` is written. */
export interface ComponentPlace {
  /** Words for people: files and lines, or the end of a sentence that begins with "It is". */
  place: string;
  /** The position, if there is only one. The file is relative to the project; lines and columns begin at 1. */
  loc?: { file: string; line: number; column: number };
}

/** The page that renders a snippet. Both paths are `containerPage` where the page is not known. */
export interface RenderingPage {
  /** The path of the page's URL. */
  path: string;
  /** The path for which Astro writes the page: below the site's base, and decoded. */
  writtenPath: string;
}

/** The functions of the integration that `<Snippet>` calls; absent while the integration needs no calls. */
interface ComponentBridge {
  /**
   * In a build, called for each embed that a page renders.
   *
   * @param params as canonical JSON.
   */
  announce?: ((id: number, params: string | undefined, page: RenderingPage) => void) | undefined;
  /** Finds where a `<Snippet>` is written. */
  find?(component: FailedComponent): ComponentPlace | undefined;
}

const bridgeSymbol = Symbol.for('astro-snippets');
const bridgeHolder = globalThis as { [bridgeSymbol]?: ComponentBridge };
bridgeHolder[bridgeSymbol] ??= {};

/**
 * Connects `<Snippet>` with the integration. The bridge is global, since the component is part of the site's code and
 * shares no module with the integration. It may even run in another process, where the bridge stays empty.
 */
export const componentBridge: ComponentBridge = bridgeHolder[bridgeSymbol];
