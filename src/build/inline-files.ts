import { readFileSync } from 'node:fs';
import type { Range } from '../embed/html-scanner.ts';
import { type Inlined, inline } from '../embed/inline.ts';
import {
  allowInTag,
  findPolicies,
  type HeaderPolicies,
  type PolicyElement,
  sourcesOf,
} from '../html/content-security-policy.ts';
import { contentIn } from '../html/rules.ts';
import type { FetchedSnippets } from '../snippets/fetch-snippets.ts';
import type { FileEmbed } from '../snippets/file-embeds.ts';
import { inTurns } from './in-turns.ts';
import type { EmbeddingFile, SiteFile } from './scan-site.ts';

export interface InlinedFile extends Inlined<FileEmbed> {
  /** The elements that set the page's policy: as they were, and where they are now. */
  policies: PolicyElement[];
}

/** @param before the bytes of the file as it was scanned. */
export type WriteFile = (file: SiteFile, after: Buffer, before: Buffer) => void;

export interface InlineOptions {
  snippets: FetchedSnippets;
  /** The policies in headers, if policies are to allow what is inlined. */
  headers: HeaderPolicies | undefined;
  /** Writes a file, or notes what has to be written. */
  write: WriteFile;
  /** Called with each file once it contains no embed any more. */
  onFile(file: EmbeddingFile, inlined: InlinedFile): void;
}

/**
 * Replaces the embeds of each file with their contents; those of a snippet without content, with their children. Adds
 * the hashes of inlined code to a page's policy if the site asks for it.
 */
export async function inlineFiles(files: readonly EmbeddingFile[], options: InlineOptions): Promise<void> {
  await inTurns(files, (file) => {
    const before = file.bytes ?? readFileSync(file.source.file);
    file.bytes = undefined;
    const inlined = inlineFile(before, file, options);
    options.write(file.source, inlined.file, before);
    options.onFile(file, inlined);
  });
}

function inlineFile(
  before: Buffer,
  { source, embeds }: EmbeddingFile,
  { snippets, headers }: InlineOptions,
): InlinedFile {
  const isPage = source.kind === 'html';
  const contentOf = ({ request }: FileEmbed) => contentIn(isPage, snippets.get(request.key));
  if (headers === undefined || !isPage) {
    return { ...inline(before, embeds, contentOf), policies: [] };
  }
  const shown = embeds.flatMap(({ form, request }) =>
    form.as === 'text' ? [] : (snippets.get(request.key) ?? []),
  );
  const sources = sourcesOf(shown);
  headers.allow(source.name, sources);
  const elements = findPolicies(before).filter(
    ({ start }) => !embeds.some((embed) => contains(embed, start)),
  );
  const tags = elements.map(({ start, end, tag }) => ({ start, end, bytes: allowInTag(tag, sources) }));
  const inlined = inline(before, embeds, contentOf, tags);
  const policies = inlined.otherPlaces.map((place, index) => ({ ...place, tag: elements[index]?.tag ?? '' }));
  return { ...inlined, policies };
}

function contains({ start, end }: Range, offset: number): boolean {
  return start <= offset && offset < end;
}
