import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { type Inlined, inline, isText } from '../embed/inline.ts';
import type { Range } from '../embed/scan.ts';
import {
  allowInTag,
  findPolicies,
  type HeaderPolicies,
  type PolicyElement,
  sourcesOf,
} from '../html/content-security-policy.ts';
import type { FetchedSnippets } from '../snippets/fetch-snippets.ts';
import type { PageEmbed } from '../snippets/page-embeds.ts';
import { inTurns } from './in-turns.ts';
import type { SitePage } from './scan-site.ts';

export interface InlinedPage extends Inlined<PageEmbed> {
  /** The elements that set the page's policy: as they were, and where they are now. */
  policies: PolicyElement[];
}

export interface InlineOptions {
  snippets: FetchedSnippets;
  /** The policies in headers, if policies are to allow what is inlined. */
  headers: HeaderPolicies | undefined;
  /** Called with each page once it contains no embed any more. */
  onPage(page: SitePage, inlined: InlinedPage): void;
}

/**
 * Replaces the embeds of each page with their contents; those of a snippet without content, with their children. Adds
 * the hashes of inlined code to the page's policy if the site asks for it.
 */
export async function inlinePages(pages: readonly SitePage[], options: InlineOptions): Promise<void> {
  await inTurns(pages, (page) => {
    const before = page.bytes ?? readFileSync(page.source.file);
    page.bytes = undefined;
    const inlined = inlinePage(before, page, options);
    overwrite(page.source.file, inlined.page, before.length);
    options.onPage(page, inlined);
  });
}

function inlinePage(
  before: Buffer,
  { source, embeds }: SitePage,
  { snippets, headers }: InlineOptions,
): InlinedPage {
  const contentOf = ({ request }: PageEmbed, asText: boolean) => {
    const snippet = snippets.get(request.key);
    return asText ? snippet?.content : snippet?.html;
  };
  if (headers === undefined) return { ...inline(before, embeds, contentOf), policies: [] };
  const shown = embeds.flatMap((embed) => (isText(embed) ? [] : (snippets.get(embed.request.key) ?? [])));
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
 * Writes a page in place. Nobody reads it before the build ends, and writing a temporary file and renaming it takes
 * many times longer.
 */
function overwrite(file: string, bytes: Buffer, lengthBefore: number): void {
  const descriptor = openSync(file, 'r+');
  try {
    for (let written = 0; written < bytes.length; ) {
      written += writeSync(descriptor, bytes, written, bytes.length - written, written);
    }
    if (bytes.length < lengthBefore) ftruncateSync(descriptor, bytes.length);
  } finally {
    closeSync(descriptor);
  }
}
