/** What became of an update of the site. */
export interface Publication {
  /** After `failed` it is tried again by itself, at the time in `retryAt`. */
  state: 'running' | 'done' | 'failed';
  /** When it was asked for, in milliseconds since the epoch. */
  startedAt: number;
  finishedAt?: number;
  /** When the next attempt begins, in milliseconds since the epoch; only after a failure, where that is known. */
  retryAt?: number | undefined;
  /** Why the attempt before the one under way failed: what it wrote to the terminal. */
  failure?: string | undefined;
  /** What was written to the terminal meanwhile, without colours. */
  output: string;
}

/** Where the site shows a snippet, according to the record of its last build or refresh. */
export interface ShownPlaces {
  /** Files of the site's output, such as `pricing/index.html`. */
  pages: readonly string[];
  /** Entries of content collections, such as `offers/spring`. */
  entries: readonly string[];
}

/**
 * The site that shows the snippets, as the service's website sees it: something that can be updated.
 * How that is done is not the website's concern.
 */
export interface Publisher {
  /** Where the site can be looked at. */
  siteUrl: string;
  /** Whose snippets it shows. */
  organizationId(): number;
  /**
   * Begins to update the site; once more afterwards, when that has begun already. An attempt that fails
   * is repeated until one succeeds.
   *
   * @param startedAt what it takes is counted from then. @default now
   */
  publish(startedAt?: number): void;
  /** The last time, or the one that is under way. */
  latest(): Publication | undefined;
  /** Where a snippet is shown; nothing when the site has no usable record. */
  shown(id: number): ShownPlaces | undefined;
  /**
   * With what a preview of a snippet looks as on a page of the site: the markup before it there, style sheets and start
   * tags, and the path of that page. Where it is on none, it is the styles of the home page, and no path.
   *
   * @param contentsWith the contents that the site may show, with the params (JSON) of one of its embeds
   * @param wanted the path of the page to look at, if that page shows it
   */
  surroundings(
    id: number,
    contentsWith: (params: string) => Promise<string[]>,
    wanted: string,
  ): Promise<{ page?: string; before: string }>;
  /** The API key that the site is built with, where that is known. */
  apiKey(): string | undefined;
}
