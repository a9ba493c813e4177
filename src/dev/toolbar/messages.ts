/** The messages between the toolbar app and the dev server. None contains the API key. */
export const events = {
  /** From the app: send the snippets of a page. Data: {@link ListMessage}. */
  list: 'astro-snippets:list',
  /** From the server to every page: {@link SnippetsMessage}. */
  snippets: 'astro-snippets:snippets',
  /** From the app: fetch a snippet again. Data: {@link SnippetMessage}. */
  refresh: 'astro-snippets:refresh',
  /** To the app that has sent it, when that is done: {@link DoneMessage}. */
  done: 'astro-snippets:done',
} as const;

export interface ListMessage {
  page: string;
}

/** Names a snippet on a page. */
export interface SnippetMessage extends ListMessage {
  key: string;
}

export interface DoneMessage extends SnippetMessage {
  /** Why nothing has changed. */
  error?: string | undefined;
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
}

export interface SnippetsMessage {
  page: string;
  snippets: ShownSnippet[];
}

/** What the comments around a snippet's content in a page of the dev server say, by which the app finds it. */
export function markOf({ key }: { key: string }): string {
  return encodeURIComponent(key);
}
