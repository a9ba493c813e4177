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
  /** Shown when the service is down. */
  children?: unknown;
  /** The key of React, Preact and Vue, which stays in the framework. */
  key?: unknown;
  /** The slot of a component or an island of Astro. In a custom element, put it on an element around the embed. */
  slot?: string | undefined | null;
  /** The language that the option `params` gets. */
  lang?: string | undefined | null;
}

/** Extended below instead of written out there, so that an element that a project declares itself is not declared twice. */
interface Elements {
  'snippet-embed': SnippetEmbed;
}

/** Vue declares elements as components. */
interface VueElements {
  'snippet-embed': new () => { $props: SnippetEmbed };
}

declare global {
  namespace astroHTML.JSX {
    interface DefinedIntrinsicElements extends Elements {}
  }
}

// A declaration has no effect where its framework is not installed. React without its types would be an error.
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
