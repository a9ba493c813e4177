/**
 * The service's two interfaces for the same snippets (specification, section 4): `render` is variant B, which
 * is asked first; `retrieve` is variant A.
 */
export type Variant = 'retrieve' | 'render';

/** A rendered snippet (specification, sections 2 and 4.2), as `SnippetClient.render` returns it. */
export interface RenderedSnippet {
  /** The rendered snippet: HTML, exactly as the service sent it. May be empty. */
  content: string;
}

/**
 * A snippet object (specification, sections 2 and 4.1), as `SnippetClient.retrieve` returns it. The
 * specification leaves open whether a response has a `name` and `content`.
 */
export interface RetrievedSnippet {
  /** The id that was asked for. */
  id: number;
  /** The name that people gave the snippet. */
  name?: string | undefined;
  /** HTML, exactly as the service sent it. May be empty. */
  content?: string | undefined;
}

/** The fields of a snippet that a response of either variant may have. */
export type SnippetFields = Omit<RetrievedSnippet, 'id'>;
