import type { PreparedSnippet } from '../html-rules/apply-rules.ts';
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
import type { WantedSnippet } from '../wanted/page-embeds.ts';
import type { SitePage } from './find-embeds.ts';
import type { InlinedPage } from './inline-pages.ts';

/** Gathers, page by page, what a build embeds, and writes it down as the manifest. */
export class BuildRecord {
  readonly #snippets: readonly WantedSnippet[];
  readonly #contents: ReadonlyMap<WantedSnippet, ManifestContent>;
  readonly #places: ReadonlyMap<WantedSnippet, number>;
  readonly #pages: ManifestPage[] = [];

  constructor(snippets: readonly WantedSnippet[], contents: ReadonlyMap<WantedSnippet, PreparedSnippet>) {
    this.#snippets = snippets;
    this.#contents = new Map([...contents].map(([snippet, content]) => [snippet, contentOf(content)]));
    this.#places = new Map(snippets.map((snippet, index) => [snippet, index]));
  }

  add({ source }: SitePage, { page, placed, policies }: InlinedPage): void {
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
      policies: policies.length === 0 ? undefined : policies,
    });
  }

  /** @param before the record of the build before, where there was one. */
  async write(
    file: string,
    directory: string,
    { renderBaseUrl, retrieveBaseUrl, ca, concurrency, html }: Settings,
    before: Manifest | undefined,
  ): Promise<void> {
    await writeManifest(file, {
      version: 3,
      builtAt: new Date().toISOString(),
      output: outputFrom(file, directory),
      settings: { renderBaseUrl, retrieveBaseUrl, ca, concurrency },
      rules: {
        sanitizes: html.sanitize !== undefined,
        scripts: html.scripts,
        strict: html.strict,
        policy: html.policy,
      },
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
