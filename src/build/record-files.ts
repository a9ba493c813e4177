import type { SnippetRequest } from '../client/snippet-request.ts';
import type { Form } from '../embed/found.ts';
import type { Placed } from '../embed/inline.ts';
import { mayHoldEmbeds } from '../embed/may-hold-embeds.ts';
import {
  contentRecord,
  type FileState,
  hashOf,
  type Manifest,
  type ManifestContent,
  type ManifestFile,
  type UnpackedState,
} from '../record/manifest.ts';
import { PlacePacker } from '../record/places.ts';
import type { CollectionEntry } from '../snippets/collection-entry.ts';
import type { FetchedSnippet, FetchedSnippets } from '../snippets/fetch-snippets.ts';
import { type FileEmbed, readEmbeds, type SnippetUse, type SnippetUses } from '../snippets/file-embeds.ts';
import type { InlinedFile } from './inline-files.ts';

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
  /** The indexes of kinds, for embeds that share a form. */
  readonly #known = new Map<Form, Map<SnippetRequest, number>>();
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

  /** @param name how people know the file. */
  add(name: string, { file, placed, policies }: InlinedFile): void {
    const places = new Array<number>(placed.length * 2);
    let last = 0;
    for (const [index, place] of placed.entries()) {
      places[index * 2] = this.#kindIndex(place);
      places[index * 2 + 1] = place.start - last;
      last = place.end;
    }
    const hash = hashOf(file);
    this.#files.push(policies.length === 0 ? { name, hash, places } : { name, hash, places, policies });
  }

  /** The index of what a place has in common with others. */
  #kindIndex({ embed: { request, form }, children, start, end }: Placed<FileEmbed>): number {
    const length = end - start;
    const known = this.#known.get(form) ?? new Map<SnippetRequest, number>();
    this.#known.set(form, known);
    const index = children === undefined ? known.get(request) : undefined;
    // Without content, each embed shows its own children.
    if (index !== undefined && this.#packer.kinds[index]?.length === length) return index;
    const snippet = this.#indexes.get(request.key) ?? 0;
    const content = this.#contents.get(request.key)?.hash;
    if (children !== undefined) {
      return this.#packer.index({ snippet, form, content, children: children.toString('latin1'), length });
    }
    const added = this.#packer.index({ snippet, form, content, length });
    known.set(request, added);
    return added;
  }

  /** The index of a snippet; -1 if it is not recorded. */
  indexOf({ key }: SnippetRequest): number {
    return this.#indexes.get(key) ?? -1;
  }

  /**
   * Records a file that an earlier run has inlined. Its places have the indexes that snippets have here.
   *
   * @param next what it is going to be, if it is written.
   */
  keep(name: string, now: UnpackedState, next?: UnpackedState): void {
    this.#files.push({ name, ...this.#pack(now), next: next && this.#pack(next) });
  }

  #pack({ hash, places, policies }: UnpackedState): FileState {
    return { hash, places: this.#packer.pack(places), policies };
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
