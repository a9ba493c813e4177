/** The attributes of `<snippet-embed>` in `.astro` files. The integration adds these types to a project. */
declare global {
  namespace astroHTML.JSX {
    interface DefinedIntrinsicElements {
      'snippet-embed': {
        /** The snippet's id. */
        id: string | number;
        /** Variables for the snippet: one JSON object as text. */
        params?: string | undefined | null;
        /** `text` escapes the content. @default 'html' */
        as?: 'html' | 'text' | undefined | null;
        children?: unknown;
        slot?: string | undefined | null;
      };
    }
  }
}

export {};
