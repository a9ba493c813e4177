import type { SnippetRequest } from '../client/snippet-request.ts';
import type { CollectionEntry } from '../failures/places.ts';
import type { OutputListing } from '../output/output-listing.ts';
import type { Manifest } from '../record/manifest.ts';
import type { EnvironmentFiles } from '../settings/environment.ts';
import type { Settings } from '../settings/settings.ts';
import type { SiteUrls } from '../settings/site-urls.ts';
import type { RouteToHeaders } from '../settings/versions.ts';
import type { FetchedSnippet, SnippetFetcher } from '../snippets/snippet-fetcher.ts';
import type { SourceSearch } from '../source/source-search.ts';
import type { ClassFile } from './class-file.ts';
import type { OutputVerifier } from './verify-output.ts';

/** A site as its generator has written it, with all that inlining and recording need. */
export interface GeneratedSite {
  settings: Settings;
  urls: SiteUrls;
  /** The path of the folder that holds the files of the site. */
  directory: string;
  /** The path of the manifest that records this site. */
  manifestFile: string;
  /** The record of the last build, if there is one that this version can read. */
  previousManifest: Manifest | undefined;
  fetcher: SnippetFetcher;
  /** Checks every file for the API key, in the state in which the file is published. */
  verifier: OutputVerifier;
  logger: SiteLogger;
  /** The context that only a site of Astro has; absent for a folder that another generator has written. */
  astro?: AstroContext;
}

/** Shows messages to the user: Astro's logger, or the terminal of the command line. */
export interface SiteLogger {
  info(line: string): void;
  warn(line: string): void;
}

/** The facts about a site that are known because Astro builds it. */
export interface AstroContext {
  /** Finds where embeds are written in the sources of the site. */
  search: SourceSearch;
  /** The mode and folder of the `.env` files that Vite read, for commands that run later. */
  environment: EnvironmentFiles;
  /** The headers that an adapter sends with pages, by route; `undefined` if the adapter sends none. */
  routeToHeaders: RouteToHeaders | undefined;
  /** The file of class names for CSS tools (class-file.ts); `undefined` without the option `classes`. */
  classes: ClassFile | undefined;
  /** The snippets that entries of content collections show. */
  collected: readonly CollectedSnippet[];
  /** Whether the last build left a manifest, even one that this version cannot read. */
  hadManifest: boolean;
  /** The copy of the output that an adapter has made in an earlier build. */
  earlierCopy: OutputListing;
  /** The names of integrations that may change files after snippets are inlined. */
  laterIntegrations: string[];
  /** Astro's folder of files whose names change with their sources, such as `_astro`. */
  assets: string;
}

/** A snippet that an entry of a content collection shows. */
export interface CollectedSnippet extends CollectionEntry {
  request: SnippetRequest;
  snippet: FetchedSnippet;
}
