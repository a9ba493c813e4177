import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { type Inlined, inline, isText, type Range } from '../embed/index.ts';
import type { PreparedSnippet } from '../html-rules/apply-rules.ts';
import type { HeaderPolicies } from '../policy/header-policies.ts';
import { allowInTag, findPolicies, type PolicyElement } from '../policy/page-policy.ts';
import { sourcesOf } from '../policy/page-sources.ts';
import type { PageEmbed, WantedSnippet } from '../wanted/page-embeds.ts';
import type { SitePage } from './find-embeds.ts';
import { inTurns } from './in-turns.ts';

export interface InlinedPage extends Inlined<PageEmbed> {
  /** The elements that say the page's policy, as they were, and where they stand now. */
  policies: PolicyElement[];
}

/**
 * Puts the contents in the place of the embeds, page by page. An embed whose snippet has no content gets its
 * fallback. Where the policy of a page is to allow what is inlined, it does from then on.
 *
 * @param onDone called with each page, and what was put into it, as soon as no embed is left in it.
 */
export async function inlinePages(
  pages: readonly SitePage[],
  contents: ReadonlyMap<WantedSnippet, PreparedSnippet>,
  headers: HeaderPolicies | undefined,
  signal: AbortSignal,
  onDone: (page: SitePage, inlined: InlinedPage) => void,
): Promise<void> {
  await inTurns(pages, signal, (page) => {
    const before = page.bytes ?? readFileSync(page.source.file);
    page.bytes = undefined;
    const inlined = inlinePage(before, page, contents, headers);
    overwrite(page.source.file, inlined.page, before.length);
    onDone(page, inlined);
  });
}

function inlinePage(
  before: Buffer,
  { source, embeds }: SitePage,
  contents: ReadonlyMap<WantedSnippet, PreparedSnippet>,
  headers: HeaderPolicies | undefined,
): InlinedPage {
  const contentOf = ({ snippet }: PageEmbed, asText: boolean) => {
    const got = contents.get(snippet);
    return asText ? got?.content : got?.html;
  };
  // Only where policies are to allow something: most sites have none.
  if (headers === undefined) return { ...inline(before, embeds, contentOf), policies: [] };
  const shown = embeds.flatMap((embed) => (isText(embed) ? [] : (contents.get(embed.snippet) ?? [])));
  const sources = sourcesOf(shown);
  headers.allow(source.name, sources);
  const elements = findPolicies(before).filter(({ start }) => !embeds.some((embed) => holds(embed, start)));
  const tags = elements.map(({ start, end, tag }) => ({ start, end, bytes: allowInTag(tag, sources) }));
  const inlined = inline(before, embeds, contentOf, tags);
  const policies = inlined.besides.map((place, index) => ({ ...place, tag: elements[index]?.tag ?? '' }));
  return { ...inlined, policies };
}

function holds({ start, end }: Range, offset: number): boolean {
  return start <= offset && offset < end;
}

/**
 * Writes a page in place: nobody reads it yet, and to write a new file and rename it costs many times more. An
 * interruption waits for the page that is being written.
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
