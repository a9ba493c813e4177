import type { HtmlEscapedString } from 'hono/utils/html';

/** Markup from the `html` tag, which waits for promises inside it. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

/** The facts that a page tells the layout around it. */
export interface PageFacts {
  title: string;
  /** The current section. @default the one at the start of the path */
  section?: string;
  /**
   * Seconds after which a browser without scripts reloads the page to show progress. Never on a page with
   * text fields, which would lose their text.
   */
  reloadAfter?: number | undefined;
  /** The update of the site that the page shows. */
  publication?: PublicationView | undefined;
}

/** The subject of the notice about an update of the site. */
export interface PublicationView {
  /** The page of the site to open. */
  page: string;
  /** The published snippet, absent if the whole site was updated. */
  id?: number | undefined;
}
