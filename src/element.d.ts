/**
 * The attributes of `<snippet-embed>` in `.astro` files, React, Preact, Solid, Vue and Svelte. The integration writes
 * these types into a project, where they find its frameworks.
 */
interface SnippetEmbed {
  /** The snippet's id. */
  id: string | number;
  /** Variables for the snippet: one JSON object as text. */
  params?: string | undefined | null;
  /**
   * `html` shows the content, `text` its text. The default is `html` where elements may be, and in files that are not
   * pages; `text` elsewhere, as in `<title>` and in attributes.
   */
  as?: 'html' | 'text' | undefined | null;
  /** Shows the children where the snippet does not exist, with a warning, instead of failing the build. */
  optional?: boolean | '' | 'true' | 'false' | undefined | null;
  children?: unknown;
  key?: unknown;
  slot?: string | undefined | null;
}

// Extended, so that an element that a project declares itself is not declared twice.
interface Elements {
  'snippet-embed': SnippetEmbed;
}

interface VueElements {
  'snippet-embed': new () => { $props: SnippetEmbed };
}

declare global {
  namespace astroHTML.JSX {
    interface DefinedIntrinsicElements extends Elements {}
  }
}

// Without effect where a framework is not installed. React without types would be an error.
// @ts-ignore
declare module 'react' {
  namespace JSX {
    interface IntrinsicElements extends Elements {}
  }
}

declare module 'preact' {
  namespace JSX {
    interface IntrinsicElements extends Elements {}
  }
}

declare module 'solid-js/jsx-runtime' {
  namespace JSX {
    interface IntrinsicElements extends Elements {}
  }
}

declare module 'vue' {
  interface GlobalComponents extends VueElements {}
}

declare module 'svelte/elements' {
  interface SvelteHTMLElements extends Elements {}
}

export {};
