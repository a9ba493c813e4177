import type { Contents } from '../../record/changes.ts';
import type { Manifest, RecordedFile } from '../../record/manifest.ts';
import type { SiteFile } from '../site-files.ts';

/** What a refresh changes on a site. */
export interface SiteChanges {
  manifest: Manifest;
  /** The contents that the service sends now, by the indexes of the snippets in the record. */
  currentContents: Contents;
  /** The pages whose bytes change. */
  pages: readonly ChangingPage[];
  /** Says what a file has to do with these pages. */
  roleOf(file: SiteFile): FileRole;
}

/**
 * - `changing`: a page that shows a changed snippet, a copy of it, or a file of the record or of a refresh
 * - `derived`: a file that may have been made from such pages
 * - `other`: any other file, with texts that stay
 * - `copied`: a file that only has another time than on record, as on a machine to which the site was copied. It
 *   is probably a file with texts that stay.
 */
export type FileRole = 'changing' | 'derived' | 'other' | 'copied';

/** A page whose bytes change in a refresh. */
export interface ChangingPage extends SiteFile {
  page: RecordedFile;
  /** The indexes of the page's changed snippets. */
  changed: readonly number[];
  makeBytes(): Buffer;
}

/** What a file holds of the old pages, so that it is out of date once they change. */
export type Trace =
  /** A digest of a page, or its entry with a revision in a precache list. */
  | { kind: 'revision'; page: string }
  /** The content of a snippet as it was, or a hash of a script or style in it. */
  | { kind: 'old-content'; snippetId: number };

/** Finds a trace in a part of a file's text. @param name the file's path in its folder */
export type TraceFinder = (text: string, name: string) => Trace | undefined;
