/** What the toolbar app and the dev server say to each other. */
export const events = {
  /** From the app: tell me of this page. Data: {@link PageQuestion}. */
  ask: 'astro-snippets:ask',
  /** From the app: ask the service for a snippet again. Data: {@link RefreshQuestion}. */
  refresh: 'astro-snippets:refresh',
  /** From the server, to every page: {@link PageSnippets}. */
  snippets: 'astro-snippets:snippets',
} as const;

export interface PageQuestion {
  page: string;
}

export interface RefreshQuestion extends PageQuestion {
  key: string;
}

/** One snippet of a page, as the toolbar shows it. */
export interface ShownSnippet {
  key: string;
  id: number;
  name?: string;
  params?: string;
  variant?: string;
  /** How long the service took, in milliseconds. */
  milliseconds?: number;
  bytes?: number;
  /** When the content was last known to be the service's, in milliseconds since the epoch. */
  checkedAt?: number;
  error?: string;
  editUrl?: string;
}

export interface PageSnippets {
  page: string;
  snippets: ShownSnippet[];
}

/** The comments around a snippet's content in a page of the dev server, by which the app finds its places. */
export const markers = {
  start: (key: string) => `snippet ${encodeURIComponent(key)}`,
  end: (key: string) => `/snippet ${encodeURIComponent(key)}`,
};
