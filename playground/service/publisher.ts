/** An update of the site. */
export interface Publication {
  /** How far the update is. A failed update is repeated at `retryAt`. */
  state: 'running' | 'done' | 'failed';
  /** When the update was requested, in milliseconds since the epoch. */
  startedAt: number;
  /** When the site was up to date, in milliseconds since the epoch. */
  finishedAt?: number;
  /** When the next attempt begins after a failure, if known, in milliseconds since the epoch. */
  retryAt?: number | undefined;
  /** The output of the previous failed attempt. */
  failure?: string | undefined;
  /** The output so far, without colors. */
  output: string;
}

/** What is wrong with a snippet that the site shows nevertheless. */
export interface ShownWarning {
  /** The line of the content, from 1; absent if that is not known. */
  line?: number | undefined;
  /** What is wrong, in whole sentences. */
  message: string;
  /** What to do next. */
  hint: string;
  /** The files of the site's output that show it. */
  pages: readonly string[];
}

/** The places where the site shows a snippet, according to the record of its last build or refresh. */
export interface ShownPlaces {
  /** Files of the site's output, such as `pricing/index.html`. */
  pages: readonly string[];
  /** Entries of content collections, such as `offers/spring`. */
  entries: readonly string[];
  /** The params (JSON) that the site passes to the snippet, each once. */
  params: readonly string[];
  /** What the last build or refresh has warned of. */
  warnings: readonly ShownWarning[];
}

/** What has to be known of a site to check a draft, as of its last build or refresh. */
export interface SiteFacts {
  /** Where the site is served. */
  url: string;
  /** The paths of its pages and other files, such as `/pricing/`. */
  paths: readonly string[];
  /** What the site does with scripts in snippets. */
  scripts: 'allow' | 'warn' | 'strip' | 'error';
  /** By the id of a snippet, the files in which all its embeds are optional. */
  optional: ReadonlyMap<number, readonly string[]>;
}

/** The content of a snippet with the params of an embed; `undefined` if it has none. */
export type SnippetContents = (id: number, params: Record<string, unknown>) => Promise<string | undefined>;

/** A page of the site with a draft. */
export interface PagePreview {
  /** The path of the page. */
  page: string;
  /** The page, with links and files that work on any host. */
  html: string;
}

/**
 * The site that shows the snippets. The website can update it, and does not know how that is done.
 */
export interface Publisher {
  siteUrl: string;
  /** The organization whose snippets the site shows. */
  organizationId(): number;
  /**
   * Starts an update of the site, or another one after the current one. Failed attempts are repeated until
   * one succeeds.
   *
   * @param startedAt the start of the measured duration.
   *
   * @default now
   */
  publish(startedAt?: number): void;
  /** The current or last update. */
  latest(): Publication | undefined;
  /** The places where a snippet is shown, if the site has a usable record. */
  shown(id: number): ShownPlaces | undefined;
  /** What a draft is checked with; `undefined` without a usable record. */
  facts(): SiteFacts | undefined;
  /**
   * Makes a page that shows a snippet, as it would be with these contents. `undefined` if no page shows it.
   *
   * @param wanted the path of the preferred page
   */
  preview(id: number, contentOf: SnippetContents, wanted: string): Promise<PagePreview | undefined>;
  /** The style sheets of the home page, as markup that works on any host. */
  styles(): Promise<string>;
  /** The API key that the site is built with, if known. */
  apiKey(): string | undefined;
}
