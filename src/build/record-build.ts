import type { Inlined } from '../embed/index.ts';
import type { Settings } from '../options.ts';
import {
  asBefore,
  contentOf,
  hashOf,
  type Manifest,
  type ManifestContent,
  type ManifestPage,
  outputFrom,
  writeManifest,
} from '../publish/manifest.ts';
import type { SourcedSnippet } from '../snippet-source.ts';
import type { PageEmbed, WantedSnippet } from '../wanted/page-embeds.ts';
import type { SitePage } from './find-embeds.ts';

/** Gathers, page by page, what a build embeds, and writes it down as the manifest. */
export class BuildRecord {
  readonly #snippets: readonly WantedSnippet[];
  readonly #contents: ReadonlyMap<WantedSnippet, ManifestContent>;
  readonly #places: ReadonlyMap<WantedSnippet, number>;
  readonly #pages: ManifestPage[] = [];

  constructor(snippets: readonly WantedSnippet[], contents: ReadonlyMap<WantedSnippet, SourcedSnippet>) {
    this.#snippets = snippets;
    this.#contents = new Map([...contents].map(([snippet, content]) => [snippet, contentOf(content)]));
    this.#places = new Map(snippets.map((snippet, index) => [snippet, index]));
  }

  add({ source }: SitePage, { page, placed }: Inlined<PageEmbed>): void {
    this.#pages.push({
      name: source.name,
      hash: hashOf(page),
      embeds: placed.map(({ embed: { snippet }, form, start, end }) => ({
        snippet: this.#places.get(snippet) ?? 0,
        start,
        end,
        ...form,
        content: this.#contents.get(snippet)?.hash,
      })),
    });
  }

  /** @param before the record of the build before, where there was one. */
  async write(
    file: string,
    directory: string,
    { renderBaseUrl, retrieveBaseUrl, ca, concurrency }: Settings,
    before: Manifest | undefined,
  ): Promise<void> {
    await writeManifest(file, {
      version: 2,
      builtAt: new Date().toISOString(),
      output: outputFrom(file, directory),
      settings: { renderBaseUrl, retrieveBaseUrl, ca, concurrency },
      snippets: this.#snippets.map((snippet) => ({
        id: snippet.id,
        params: snippet.params,
        content: this.#contents.get(snippet),
      })),
      before: before && asBefore(before),
      pages: this.#pages,
    });
  }
}
