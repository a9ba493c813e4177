/** What became of bringing the site up to date. */
export interface Publication {
  state: 'running' | 'done' | 'failed';
  /** Milliseconds since the epoch. */
  startedAt: number;
  finishedAt?: number;
  /** How it was done: by just the pages that changed, or by all of them. */
  how: 'refresh' | 'build';
  /** How long the last build of the whole site took, for comparison. */
  buildMilliseconds?: number | undefined;
  /** What was written to the terminal meanwhile, without colours. */
  output: string;
}

/**
 * The site that shows the snippets, as the service's website sees it: something that can be brought up to date.
 * How that is done is not the website's concern.
 */
export interface Publisher {
  /** Where the site can be looked at. */
  siteUrl: string;
  /** Begins to bring the site up to date; once more afterwards, when that has begun already. */
  publish(): void;
  /** The last time, or the one that is under way. */
  latest(): Publication | undefined;
}
