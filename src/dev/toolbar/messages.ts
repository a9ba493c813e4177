import type { Tried } from '../trial.ts';

/** The messages between the toolbar app and the dev server. None contains the API key. */
export const events = {
  /** From the app: send the snippets of a page. Data: {@link ListMessage}. */
  list: 'astro-snippets:list',
  /** From the server to every page: {@link SnippetsMessage}. */
  snippets: 'astro-snippets:snippets',
  /** From the app: fetch a snippet again. Data: {@link SnippetMessage}. */
  refresh: 'astro-snippets:refresh',
  /** From the app: show something else for a snippet. Data: {@link TryMessage}. */
  try: 'astro-snippets:try',
  /** From the app: show the service's text again. Data: {@link SnippetMessage}. */
  endTrial: 'astro-snippets:end-trial',
  /** To the app that has sent one of these three, when it is done: {@link DoneMessage}. */
  done: 'astro-snippets:done',
  /** From the app: {@link SnippetMessage}; to this app: {@link ContentMessage}. */
  content: 'astro-snippets:content',
  /** From the app: {@link SnippetMessage}; to this app: {@link OtherPagesMessage}. */
  otherPages: 'astro-snippets:other-pages',
} as const;

export interface ListMessage {
  page: string;
}

/** Names a snippet on a page. */
export interface SnippetMessage extends ListMessage {
  key: string;
}

export interface TryMessage extends SnippetMessage {
  kind: Tried['kind'];
  /** A text, or params as JSON. */
  typed: string;
}

export interface DoneMessage extends SnippetMessage {
  /** Why nothing has changed. */
  error?: string | undefined;
}

/** What the service sent for a snippet. */
export interface ContentMessage extends SnippetMessage {
  content: string | undefined;
}

/** Where the last build showed a snippet, apart from the page itself. */
export interface OtherPagesMessage extends SnippetMessage {
  /** Why that is not known. */
  flaw?: string | undefined;
  /** Of the build, or of the last refresh since then; in milliseconds since the epoch. */
  builtAt?: number | undefined;
  pages: OtherPage[];
  /** The number of pages that are left out. */
  more: number;
  /** The names of entries of collections. */
  entries: string[];
}

export interface OtherPage {
  path: string;
  /** Whether the page shows the snippet with other params, or without any. */
  hasOtherParams: boolean;
}

/** One snippet of a page, as the toolbar shows it. */
export interface ShownSnippet {
  key: string;
  id: number;
  name?: string | undefined;
  params?: string | undefined;
  /** Whether each of its embeds on the page is optional. */
  optional: boolean;
  variant?: string | undefined;
  /** How long the service took, in milliseconds. */
  milliseconds?: number | undefined;
  bytes?: number | undefined;
  /** When the content was last known to be current, in milliseconds since the epoch. */
  checkedAt?: number | undefined;
  error?: string | undefined;
  editUrl?: string | undefined;
  trial?: ShownTrial | undefined;
}

/** What is shown instead of the service's text. */
export interface ShownTrial {
  kind: Tried['kind'];
  /** The text, or the params in their canonical form; `undefined` for none. */
  tried: string | undefined;
  warnings: string[];
  error?: string | undefined;
}

export interface SnippetsMessage {
  page: string;
  snippets: ShownSnippet[];
}

/** The comments around a snippet's content in a page of the dev server, by which the app finds it. */
export const markers = {
  start: (key: string) => `snippet ${encodeURIComponent(key)}`,
  end: (key: string) => `/snippet ${encodeURIComponent(key)}`,
};
