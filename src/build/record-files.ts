import type { SnippetRequest } from '../client/snippet-request.ts';
import { mayHoldEmbeds } from '../embed/may-hold-embeds.ts';
import {
  contentRecord,
  hashOf,
  type Manifest,
  type ManifestContent,
  type ManifestFile,
  requestsOf,
  type UnpackedState,
} from '../record/manifest.ts';
import { PlacePacker } from '../record/places.ts';
import type { CollectionEntry } from '../snippets/collection-entry.ts';
import type { FetchedSnippet, FetchedSnippets } from '../snippets/fetch-snippets.ts';
import { readEmbeds, type SnippetUse, type SnippetUses } from '../snippets/file-embeds.ts';
import type { InlinedFile } from './inline-files.ts';
import type { EmbeddingFile } from './scan-site.ts';

/** An entry of a collection, and the snippet that it shows. */
export interface CollectedEntry extends CollectionEntry {
  request: SnippetRequest;
  snippet: FetchedSnippet;
}

/** Collects what a build shows, file by file, for the manifest. */
export class FileRecorder {
  readonly #snippets: Manifest['snippets'] = [];
  readonly #indexes = new Map<string, number>();
  readonly #contents: ReadonlyMap<string, ManifestContent>;
  readonly #collections: Manifest['collections'];
  readonly #packer = new PlacePacker();
  readonly #files: ManifestFile[] = [];
  /** The keys of embeds inside contents. They are not replaced, and stay in the output. */
  readonly quoted: ReadonlySet<string>;

  readonly #missing: ReadonlySet<string>;

  /** @param missing the keys of optional snippets that do not exist. */
  constructor(
    uses: readonly SnippetUse[],
    snippets: FetchedSnippets,
    collected: readonly CollectedEntry[],
    missing: ReadonlySet<string> = new Set(),
  ) {
    this.#missing = missing;
    this.#contents = new Map([...snippets].map(([key, snippet]) => [key, contentRecord(snippet)]));
    this.quoted = quotedEmbeds(snippets);
    for (const { request } of uses) this.#addSnippet(request, this.#contents.get(request.key));
    this.#collections = collected.map(({ collection, entry, request, snippet }) => {
      const content = contentRecord(snippet);
      return { collection, entry, snippet: this.#addSnippet(request, content), content: content.hash };
    });
  }

  add({ source }: EmbeddingFile, { file, placed, policies }: InlinedFile): void {
    const places = placed.map(({ embed: { request, form }, children, start, end }) => ({
      snippet: this.#indexes.get(request.key) ?? 0,
      form,
      content: this.#contents.get(request.key)?.hash,
      ...(children && { children: children.toString('latin1') }),
      start,
      end,
    }));
    this.#files.push({
      name: source.name,
      hash: hashOf(file),
      places: this.#packer.pack(places),
      policies: policies.length === 0 ? undefined : policies,
    });
  }

  /** Records a file that an earlier run has inlined. Its places have the indexes that snippets have here. */
  keep(name: string, { hash, places, policies }: UnpackedState): void {
    this.#files.push({ name, hash, places: this.#packer.pack(places), policies });
  }

  /** Records what an earlier build has shown in collections. */
  keepCollections(record: Manifest): void {
    const requests = requestsOf(record);
    for (const entry of record.collections) {
      const request = requests[entry.snippet];
      if (request === undefined) continue;
      const snippet = this.#addSnippet(request, this.#contents.get(request.key));
      this.#collections.push({ ...entry, snippet });
    }
  }

  /** The index of a snippet, which is added if it is new. */
  #addSnippet({ id, params, key }: SnippetRequest, content: ManifestContent | undefined): number {
    const known = this.#indexes.get(key);
    if (known !== undefined) return known;
    const missing = this.#missing.has(key) ? ({ missing: true } as const) : undefined;
    const index = this.#snippets.push({ id, params, content, ...missing }) - 1;
    this.#indexes.set(key, index);
    return index;
  }

  /** The hash of each file that was inlined, by its name. */
  get hashes(): ReadonlyMap<string, string> {
    return new Map(this.#files.map(({ name, hash }) => [name, hash]));
  }

  get record(): Pick<Manifest, 'snippets' | 'kinds' | 'files' | 'collections'> {
    return {
      snippets: this.#snippets,
      kinds: this.#packer.kinds,
      files: this.#files,
      collections: this.#collections,
    };
  }
}

function quotedEmbeds(snippets: FetchedSnippets): Set<string> {
  const quoted: SnippetUses = new Map();
  for (const { html } of snippets.values()) {
    const bytes = Buffer.from(html);
    if (mayHoldEmbeds(bytes, 'html')) readEmbeds({ name: '', bytes, kind: 'html' }, quoted);
  }
  return new Set(quoted.keys());
}
