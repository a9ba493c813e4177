import type { Snippet } from '../client/snippet-client.ts';
import type { Inlined } from '../embed/index.ts';
import type { Settings } from '../options.ts';
import { hashOf, type Manifest, type ManifestPage, outputFrom, writeManifest } from '../publish/manifest.ts';
import type { PageEmbed, WantedSnippet } from '../wanted/page-embeds.ts';
import type { SitePage } from './find-embeds.ts';

/** Gathers, page by page, what a build embeds, and writes it down as the manifest. */
export class BuildRecord {
  readonly #snippets: readonly WantedSnippet[];
  readonly #contents: ReadonlyMap<WantedSnippet, Snippet>;
  readonly #places: ReadonlyMap<WantedSnippet, number>;
  readonly #hashes = new Map<WantedSnippet, string>();
  readonly #pages: ManifestPage[] = [];

  constructor(snippets: readonly WantedSnippet[], contents: ReadonlyMap<WantedSnippet, Snippet>) {
    this.#snippets = snippets;
    this.#contents = contents;
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
        ...(this.#contents.has(snippet) ? { content: this.#hashOf(snippet) } : {}),
      })),
    });
  }

  async write(
    file: string,
    directory: string,
    { renderBaseUrl, retrieveBaseUrl, ca, concurrency }: Settings,
  ): Promise<void> {
    const manifest: Manifest = {
      version: 1,
      builtAt: new Date().toISOString(),
      output: outputFrom(file, directory),
      settings: { renderBaseUrl, retrieveBaseUrl, ca, concurrency },
      snippets: this.#snippets.map(({ id, params }) => ({ id, params })),
      pages: this.#pages,
    };
    await writeManifest(file, manifest);
  }

  #hashOf(snippet: WantedSnippet): string {
    const known = this.#hashes.get(snippet) ?? hashOf(this.#contents.get(snippet)?.content ?? '');
    this.#hashes.set(snippet, known);
    return known;
  }
}
