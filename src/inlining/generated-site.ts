import type { SnippetRequest } from '../client/snippet-request.ts';
import type { CollectionEntry } from '../failures/places.ts';
import type { Manifest } from '../record/manifest.ts';
import type { RouteToHeaders } from '../settings/astro-version.ts';
import type { EnvironmentFiles } from '../settings/environment.ts';
import type { Settings } from '../settings/settings.ts';
import type { SiteUrls } from '../settings/site-urls.ts';
import type { FetchedSnippet, SnippetFetcher } from '../snippets/snippet-fetcher.ts';
import type { SourceSearch } from '../source/source-search.ts';
import type { ClassFile } from './class-file.ts';
import type { OutputVerifier } from './verify-output.ts';

/** A snippet that an entry of a collection shows. */
export interface CollectedSnippet extends CollectionEntry {
  request: SnippetRequest;
  snippet: FetchedSnippet;
}

/** A site as its generator has written it, with all that inlining and recording need. Only Astro's have what is optional. */
export interface GeneratedSite {
  settings: Settings;
  urls: SiteUrls;
  /** The folder with the files of the site. */
  directory: string;
  /** The path of the record. */
  manifest: string;
  /** The record of the last build, if this version can read it. */
  previousManifest: Manifest | undefined;
  fetcher: SnippetFetcher;
  verifier: OutputVerifier;
  logger: Record<'info' | 'warn', (line: string) => void>;
  /** Where variables were read. */
  environment?: EnvironmentFiles;
  search?: SourceSearch;
  /** The headers that the adapter sends, by route. */
  routeToHeaders?: RouteToHeaders | undefined;
  /** The file that CSS tools read, with the option `classes`. */
  classes?: ClassFile | undefined;
  /** The snippets of collections. */
  collected?: readonly CollectedSnippet[];
  /** Whether the last build left a record, even one that this version cannot read. */
  hadManifest?: boolean;
  /** The integrations that may change files after snippets are inlined. */
  laterIntegrations?: string[];
  /** Astro's folder of files whose names change with their sources. */
  assets?: string;
}
