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

/** What a page passes to a server island. */
export interface PassedToIsland {
  /** The path of the page; `undefined` if Astro does not tell. */
  page: string | undefined;
  /** The name of the island's component. */
  name: string;
  /** The island's props and its rendered slots. */
  passed: unknown;
}

/** The functions of the integration that `<Snippet>` calls; absent while the integration needs no calls. */
export interface ComponentBridge {
  /**
   * In a build, called for each embed that a page renders.
   *
   * @param params as canonical JSON.
   */
  announce?: ((id: number, params: string | undefined, page: RenderingPage) => void) | undefined;
  /** In a build, called with what a page passes to a server island, before Astro encrypts it. */
  announceIsland?: ((island: PassedToIsland) => void) | undefined;
  /** Finds where a `<Snippet>` is written. */
  find?(component: FailedComponent): ComponentPlace | undefined;
}

/** The bridge of a build or dev server, and the URLs of the folders with its code, the latest one last. */
interface OpenedBridge {
  folders: readonly string[];
  bridge: ComponentBridge;
}

const bridgesSymbol = Symbol.for('astro-snippets:bridges');
const bridgeHolder = globalThis as { [bridgesSymbol]?: OpenedBridge[] };

/**
 * Opens the bridge that connects `<Snippet>` with the integration, for one build or dev server: several may run in one
 * process. Bridges are global, since the component is part of the site's code and shares no module with the integration.
 * The component may even run in another process, where there is none.
 *
 * @param folders the URLs of the folders from which the site's code runs. A site that is built again keeps its bridge.
 */
export function openBridge(folders: readonly string[]): ComponentBridge {
  bridgeHolder[bridgesSymbol] ??= [];
  const bridges = bridgeHolder[bridgesSymbol];
  const index = bridges.findIndex((known) => known.folders.join() === folders.join());
  const [known = { folders, bridge: {} }] = index === -1 ? [] : bridges.splice(index, 1);
  bridges.push(known);
  return known.bridge;
}

/**
 * Finds the bridge of the site to which a component belongs: the one whose folder is nearest, else the latest.
 *
 * @param codeUrl the URL of the component's code. The code itself has no number of its site, as incremental builds
 *   compare its hash.
 */
export function findBridge(codeUrl: string): ComponentBridge {
  const bridges = bridgeHolder[bridgesSymbol] ?? [];
  let nearest = 0;
  let found = bridges.at(-1);
  for (const opened of bridges) {
    for (const { length } of opened.folders.filter((folder) => codeUrl.startsWith(folder))) {
      if (length < nearest) continue;
      nearest = length;
      found = opened;
    }
  }
  return found?.bridge ?? {};
}
