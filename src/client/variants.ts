/** What `render` returns (specification, section 4.2). */
export interface RenderedSnippet {
  /** The rendered snippet: HTML, exactly as the service sent it. May be empty. */
  content: string;
}

/** What `retrieve` returns (specification, sections 2 and 4.1, which leave its fields open). */
export interface RetrievedSnippet {
  id: number;
  name?: string | undefined;
  content?: string | undefined;
}

/** The service's variants (specification, section 4): `render` is variant B, `retrieve` is variant A. */
export type Variant = 'retrieve' | 'render';
