import { mayHoldEmbeds } from '../embed/scan.ts';
import {
  contentRecord,
  hashOf,
  type Manifest,
  type ManifestContent,
  type ManifestPage,
} from '../record/manifest.ts';
import type { FetchedSnippets } from '../snippets/fetch-snippets.ts';
import { readEmbeds, type SnippetUse, type SnippetUses } from '../snippets/file-embeds.ts';
import type { InlinedFile } from './inline-files.ts';
import type { EmbeddingFile } from './scan-site.ts';

/** Collects, file by file, what a build embeds, for the manifest. */
export class FileRecorder {
  readonly #uses: readonly SnippetUse[];
  readonly #contents: ReadonlyMap<string, ManifestContent>;
  readonly #indexes: ReadonlyMap<string, number>;
  readonly #files: ManifestPage[] = [];
  /** The keys of embeds inside contents. They are not replaced, and stay in the output. */
  readonly quoted: ReadonlySet<string>;

  constructor(uses: readonly SnippetUse[], snippets: FetchedSnippets) {
    this.#uses = uses;
    this.#contents = new Map([...snippets].map(([key, snippet]) => [key, contentRecord(snippet)]));
    this.quoted = quotedEmbeds(snippets);
    this.#indexes = new Map(uses.map(({ request }, index) => [request.key, index]));
  }

  add({ source }: EmbeddingFile, { file, placed, policies }: InlinedFile): void {
    this.#files.push({
      name: source.name,
      hash: hashOf(file),
      embeds: placed.map(({ embed: { request, form }, start, end }) => ({
        snippet: this.#indexes.get(request.key) ?? 0,
        start,
        end,
        form: { ...form, layers: [...form.layers] },
        content: this.#contents.get(request.key)?.hash,
      })),
      policies: policies.length === 0 ? undefined : policies,
    });
  }

  /** The hash of each file that was inlined, by its name. */
  get hashes(): ReadonlyMap<string, string> {
    return new Map(this.#files.map(({ name, hash }) => [name, hash]));
  }

  get record(): Pick<Manifest, 'snippets' | 'pages'> {
    return {
      snippets: this.#uses.map(({ request: { id, params, key } }) => ({
        id,
        params,
        content: this.#contents.get(key),
      })),
      pages: this.#files,
    };
  }
}

function quotedEmbeds(snippets: FetchedSnippets): Set<string> {
  const quoted: SnippetUses = new Map();
  for (const { html } of snippets.values()) {
    const bytes = Buffer.from(html);
    if (mayHoldEmbeds(bytes, 'html')) readEmbeds('', bytes, 'html', quoted);
  }
  return new Set(quoted.keys());
}
