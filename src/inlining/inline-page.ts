import type { Stats } from 'node:fs';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { allowInPage, type PolicyRules, type PolicySources, sourcesOf } from '../content/csp.ts';
import type { PreparedSnippet } from '../content/prepare-snippet.ts';
import { formatKey, type InsertionFormat } from '../embed/insertion-format.ts';
import {
  type ComposedContent,
  compose,
  replaceEmbeds,
  type SnippetContent,
} from '../embed/replace-embeds.ts';
import type { Edit } from '../markup/edits.ts';
import type { ScannableFile } from '../output/site-files.ts';
import type { RecordedSnippet } from '../record/manifest.ts';
import type { FileEmbed } from '../snippets/read-embeds.ts';
import { type EditLinks, linkPage } from './edit-links/edit-links.ts';

type InlinableSnippet = SnippetContent & Pick<PreparedSnippet, 'htmlElsewhere' | 'inlineCode'>;

interface InlineOptions extends EditLinks {
  snippets: ReadonlyMap<string, InlinableSnippet>;
  rules: PolicyRules;
  /** Adds to the policies in headers what a page has to allow. */
  allow?: (page: string, sources: PolicySources) => void;
  /** Memory for small pages, if each is written before the next is made. */
  scratchBuffer?: Buffer;
}

export type InlinedPage = ReturnType<ReturnType<typeof pageInliner>>;

export interface WrittenPage {
  inlinedPage: InlinedPage;
  /** What it still shows of an earlier run without an embed, as a later step has changed it. Children have no `hash`. */
  leftovers?: readonly { snippet: RecordedSnippet; hash: string | undefined }[];
  /** Once it is written. */
  stats?: Stats;
}

/** The one way to make a page, for builds, refreshes, folders and `astro dev`. */
export function pageInliner({ snippets, rules, allow, scratchBuffer, ...editLinks }: InlineOptions) {
  /** Composes a content once for all embeds that are written alike. */
  const composer = (htmlOf: (snippet: InlinableSnippet) => string) => {
    // By request: a site has few, with many embeds of each.
    let alike = new Map<SnippetRequest, ComposedContent | undefined>();
    const composed = new Map<string, typeof alike>();
    let last: InsertionFormat | undefined;
    return ({ request, format }: FileEmbed) => {
      if (format !== last) {
        const key = formatKey(format);
        alike = composed.get(key) ?? new Map();
        composed.set(key, alike);
        last = format;
      }
      if (!alike.has(request)) {
        const snippet = snippets.get(request.key);
        const content = snippet && { ...snippet, html: htmlOf(snippet) };
        alike.set(request, content && compose(content, format));
      }
      return alike.get(request);
    };
  };
  const inPages = composer(({ html }) => html);
  const elsewhere = composer(({ html, htmlElsewhere = html }) => htmlElsewhere);
  return (
    { name, kind }: Pick<ScannableFile, 'name' | 'kind'>,
    generated: Buffer,
    found: readonly FileEmbed[],
  ): {
    generated: Buffer<ArrayBufferLike>;
    embeds: readonly FileEmbed[];
    file: Buffer<ArrayBufferLike>;
    hasPolicy: boolean;
    isLinked: boolean;
  } => {
    const isPage = kind === 'html';
    const { embeds, script } = linkPage(generated, found, isPage ? editLinks : {});
    const policies: Edit[] = [];
    if (isPage && (rules.policy === 'hash' || rules.editLinks)) {
      const shown = embeds.flatMap(({ format, request }) =>
        format.as === 'text' ? [] : (snippets.get(request.key) ?? []),
      );
      const sources = sourcesOf(shown, rules);
      allow?.(name, sources);
      const isInEmbed = (at: number) => embeds.some(({ start, end }) => start <= at && at < end);
      policies.push(...allowInPage(generated, sources).filter(({ start }) => !isInEmbed(start)));
    }
    const pieces = script ? [...policies, script] : policies;
    const file = replaceEmbeds(generated, embeds, isPage ? inPages : elsewhere, pieces, scratchBuffer);
    /** The page's own policy now allows what is inlined. */
    const hasPolicy = policies.length > 0;
    return { generated, embeds: found, file, hasPolicy, isLinked: script !== undefined };
  };
}
