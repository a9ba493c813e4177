import { closeSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import type { Range } from '../embed/html-scanner.ts';
import { type Inlined, inline } from '../embed/inline.ts';
import { writeError } from '../failures/write-error.ts';
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

export interface InlineOptions {
  snippets: FetchedSnippets;
  /** The policies in headers, if policies are to allow what is inlined. */
  headers: HeaderPolicies | undefined;
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
    overwrite(file.source, inlined.file, before.length);
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

/**
 * Writes a file in place. It is not read before the build ends, and writing a temporary file and renaming it takes
 * many times longer.
 */
function overwrite({ file, name }: SiteFile, bytes: Buffer, lengthBefore: number): void {
  const descriptor = openSync(file, 'r+');
  try {
    for (let written = 0; written < bytes.length; ) {
      written += writeSync(descriptor, bytes, written, bytes.length - written, written);
    }
    if (bytes.length < lengthBefore) ftruncateSync(descriptor, bytes.length);
  } catch (error) {
    // Part of the new page and part of the old one.
    rmSync(file, { force: true });
    throw writeError(name, error, 'It was removed.');
  } finally {
    closeSync(descriptor);
  }
}
