import type { Contents } from '../../record/changes.ts';
import type { Manifest } from '../../record/manifest.ts';
import type { SiteFile } from '../site-files.ts';

/** What a refresh changes on a site. */
export interface SiteChanges {
  manifest: Manifest;
  /** The contents that the service sends now, by the indexes of the snippets in the record. */
  currentContents: Contents;
  /** The indexes of the snippets whose content changes. */
  changedSnippets: ReadonlySet<number>;
  /** Says whether a file may have been made from pages: `false` for pages, and for files from before. */
  mayBeDerived(file: SiteFile): boolean;
}

/** What a file holds of the old pages, so that it is out of date once they change. */
export type Trace =
  /** A digest of a page, or its entry with a revision in a precache list. */
  | { kind: 'revision'; page: string }
  /** The content of a snippet as it was, or a hash of a script or style in it. */
  | { kind: 'old-content'; snippetId: number };

/** Finds a trace in a piece of a file's text. @param name the file's path in its folder */
export type TraceFinder = (text: string, name: string) => Trace | undefined;
