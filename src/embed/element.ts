/** The element that says where a snippet belongs: `<snippet-embed id="42" params='{"plan":"pro"}'>`. */
export const elementName = 'snippet-embed';

/** What an embed shows of a snippet: its content as `html`, or the `text` of it. */
export type EmbedAs = 'html' | 'text';

/** The attributes of one embed, as the component writes them and the scanner reads them. */
export interface EmbedAttributes {
  id?: string | undefined;
  params?: string | undefined;
  as?: string | undefined;
  optional?: string | undefined;
}

/** What `<Snippet>` says while it renders: which snippet it writes an embed for, and on which page. */
export interface Announcement {
  id: number;
  /** Canonical JSON text. */
  params: string | undefined;
  /** The path of the page's URL, or `containerPage`. */
  pathname: string;
}

/**
 * What Astro's Container API renders, as for a feed. It has a path of its own making, and what becomes of it is not
 * known.
 */
export const containerPage = "a page of Astro's container";

type Listener = (announcement: Announcement) => void;

// The component is part of the site's code, so it shares no module with the integration. Where pages are rendered in
// another process or runtime there is no listener, and nothing is announced.
const hook = Symbol.for('astro-snippets:announce');
const shared = globalThis as { [hook]?: Listener };

/** Hears announcements, if a build in this process does. */
export function listener(): Listener | undefined {
  return shared[hook];
}

/** Passes announcements to a listener. Returns a function that stops it. */
export function listen(to: Listener): () => void {
  shared[hook] = to;
  return () => {
    if (shared[hook] === to) delete shared[hook];
  };
}
