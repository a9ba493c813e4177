import type { Contents } from '../../record/changes.ts';
import type { Manifest } from '../../record/manifest.ts';
import type { SiteFile } from '../site-files.ts';

/** What changes on the site, and where that may be found. */
export interface SiteChanges {
  manifest: Manifest;
  now: Contents;
  /** Indexes of snippets. */
  changed: ReadonlySet<number>;
  mayBeMade(file: SiteFile): boolean;
}

/** Finds what changes in the text of a file: the object of a sentence. */
export type Finder = (text: string, name: string) => string | undefined;
