import type { SnippetRequest } from '../client/snippet-request.ts';
import type { FileKind } from '../embed/found-embed.ts';
import { fileKind } from '../files/file-kind.ts';
import { type InlinableSnippet, type InlinedPage, pageInliner } from '../inlining/inline-page.ts';
import { type Contents, pageHashOf } from '../record/changes.ts';
import type { Manifest, RecordedFile } from '../record/manifest.ts';
import { PackReader } from '../record/pack.ts';
import { readEmbeds } from '../snippets/read-embeds.ts';
import type { FetchedSnippets } from '../snippets/snippet-fetcher.ts';
import type { Progress } from '../text/progress.ts';

/** Pages as they were generated, by the manifest of their site, and what to inline into them. */
interface GeneratedPages {
  /** The path of the manifest. */
  recordFile: string;
  manifest: Manifest;
  /** The current snippets of the manifest, without optional ones that do not exist. */
  fetched: ReadonlyMap<string, InlinableSnippet>;
  /** The edit links with the current names of snippets; absent if pages have none. */
  linked: Manifest['linked'];
}

/** A built site, by its manifest, and the current snippets of the service. */
export interface SiteToRefresh extends GeneratedPages {
  fetched: FetchedSnippets;
  /** The names of snippets, as far as they are known now. */
  names: Manifest['names'];
  /** The current contents, as a manifest records them. */
  currentContents: Contents;
  /** The folder from which messages show paths. */
  cwd: string;
  progress: Progress;
  /** Reads an image of a snippet from the cache, by its name in the folder of assets. */
  readImage(name: string): Promise<Uint8Array | undefined>;
}

/** The current snippets that differ from those on record, by the keys of their requests. */
export function changedSnippets({ manifest, fetched, currentContents }: SiteToRefresh): FetchedSnippets {
  const changed = new Set(
    manifest.snippets.flatMap(({ key, content }, index) =>
      pageHashOf(content) === pageHashOf(currentContents[index]) ? [] : key,
    ),
  );
  return new Map([...fetched].filter(([key]) => changed.has(key)));
}

/** Makes a page with its current snippets. @throws UserError if the page as generated cannot be read */
export type MakePage = (page: RecordedFile) => InlinedPage;

/** Prepares to make pages as the build did, from the pages as they were generated. */
export function pageMaker({ recordFile, manifest, fetched, linked }: GeneratedPages): MakePage {
  const { rules, snippets, urls } = manifest;
  const pack = new PackReader(recordFile, manifest.pack);
  const inlinePage = pageInliner({ snippets: fetched, rules, site: urls?.site, linked });

  return (page) => {
    const { name, shows } = page;
    const generated = pack.read(page);
    const kind = fileKind(name) as FileKind;
    // The requests of the record have the params that the option `params` added, which only a build has.
    // `addParams` is called once for each embed in the order of the page, which is the order of `shows`.
    const indexes = shows.values();
    const addParams = (written: SnippetRequest) => snippets[indexes.next().value ?? -1] ?? written;
    const { embeds } = readEmbeds({ name, bytes: generated, kind, addParams }, new Map());
    return inlinePage({ name, kind }, generated, embeds);
  };
}
