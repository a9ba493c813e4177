/** What Astro's Container API renders, as for a feed. Its real path is not known. */
export const containerPage = "a page of Astro's container";

/** A `<Snippet>` that is wrong, with the path of the page's URL and the names of its props. */
export interface AskedComponent {
  id: string | undefined;
  page: string | undefined;
  props: readonly string[];
}

/** What the integration does for `<Snippet>`. */
interface ComponentBridge {
  /** In a build. The page is the path of its URL, or `containerPage`. */
  announce?: ((id: number, params: string | undefined, pathname: string) => void) | undefined;
  /** Where it is written: for people, and, if it is certain, a file in the project. Lines and columns begin at 1. */
  find?(
    asked: AskedComponent,
  ): { place: string; loc?: { file: string; line: number; column: number } } | undefined;
}

// The component shares no module with the integration, and maybe no process.
const bridgeSymbol = Symbol.for('astro-snippets');

const bridgeHolder = globalThis as { [bridgeSymbol]?: ComponentBridge };

bridgeHolder[bridgeSymbol] ??= {};

export const componentBridge: ComponentBridge = bridgeHolder[bridgeSymbol];
