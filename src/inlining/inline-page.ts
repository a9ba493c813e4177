import type { Stats } from 'node:fs';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { allowInPage, type PolicyRules, type PolicySources, sourcesOf } from '../content/csp.ts';
import type { PreparedSnippet } from '../content/prepare-snippet.ts';
import { formatKey, type InsertionFormat } from '../embed/found-embed.ts';
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

/** The parts of a snippet that a page needs. */
export type InlinableSnippet = SnippetContent & Pick<PreparedSnippet, 'htmlElsewhere' | 'inlineCode'>;

export interface InlineOptions extends EditLinks {
  /** Snippets by the keys of their requests. An embed without a snippet shows its children. */
  snippets: ReadonlyMap<string, InlinableSnippet>;
  rules: PolicyRules;
  /** Adds what a page has to allow to the policies that are sent as headers. */
  allowInHeaders?: (page: string, sources: PolicySources) => void;
  /** A buffer to compose small pages in. Pass it only if each page is written before the next is inlined. */
  scratchBuffer?: Buffer;
}

/** Inlines snippets into a page or another file, given its bytes as generated and the embeds in them. */
export type InlinePage = (
  file: Pick<ScannableFile, 'name' | 'kind'>,
  generated: Buffer,
  embeds: readonly FileEmbed[],
) => InlinedPage;

/** A page or another file before and after its snippets are inlined. */
export interface InlinedPage {
  /** The file as it was generated. */
  generated: Buffer;
  /** The embeds in the generated file. */
  embeds: readonly FileEmbed[];
  /** The file with its snippets. */
  bytes: Buffer;
  /** Whether the page has a Content Security Policy of its own, which now allows what is inlined. */
  hasMetaPolicy: boolean;
  /** Whether the page has edit links. */
  isLinked: boolean;
}

/** A page that is written, or staged to be written. */
export interface WrittenPage {
  inlinedPage: InlinedPage;
  /** Snippets of an earlier run that the page shows without an embed: a later step has changed the page. */
  leftovers?: readonly LeftoverSnippet[];
  /** What the file system says of the file, or of the one that is staged, once it has these bytes. */
  stats: Stats;
}

/** A snippet that a page shows without an embed that could be replaced. */
export interface LeftoverSnippet {
  snippet: RecordedSnippet;
  /** The hash of the content that the page shows; `undefined` if the page shows the children of the embed. */
  hash: string | undefined;
}

/** Returns the function that inlines snippets into a page, in builds, refreshes, `inline` and `astro dev`. */
export function pageInliner(options: InlineOptions): InlinePage {
  const { snippets, rules, allowInHeaders, scratchBuffer, ...editLinks } = options;
  const composeInPage = cachedComposer(snippets, ({ html }) => html);
  const composeElsewhere = cachedComposer(snippets, ({ html, htmlElsewhere = html }) => htmlElsewhere);
  const changesPolicies = rules.policy === 'hash' || rules.editLinks !== undefined;

  /** Allows what is inlined in the policies of a page, both in its headers and in its own elements. */
  const editPolicies = (name: string, generated: Buffer, embeds: readonly FileEmbed[]): Edit[] => {
    const inlinedAsHtml = embeds.flatMap(({ format, request }) =>
      format.as === 'text' ? [] : (snippets.get(request.key) ?? []),
    );
    const sources = sourcesOf(inlinedAsHtml, rules);
    allowInHeaders?.(name, sources);
    // A policy among the children of an embed is replaced with the children, so it is not edited.
    const isInEmbed = (offset: number) => embeds.some(({ start, end }) => start <= offset && offset < end);
    return allowInPage(generated, sources).filter(({ start }) => !isInEmbed(start));
  };

  return ({ name, kind }, generated, embeds) => {
    const isPage = kind === 'html';
    const { embeds: markedEmbeds, script } = linkPage(generated, embeds, isPage ? editLinks : {});
    const policies = isPage && changesPolicies ? editPolicies(name, generated, markedEmbeds) : [];

    const composeContent = isPage ? composeInPage : composeElsewhere;
    const edits = script ? [...policies, script] : policies;
    const bytes = replaceEmbeds(generated, markedEmbeds, composeContent, edits, scratchBuffer);
    return { generated, embeds, bytes, hasMetaPolicy: policies.length > 0, isLinked: script !== undefined };
  };
}

/** Composes the content of a snippet once for all of its embeds that are encoded alike. */
function cachedComposer(
  snippets: InlineOptions['snippets'],
  htmlOf: (snippet: InlinableSnippet) => string,
): (embed: FileEmbed) => ComposedContent | undefined {
  // Request objects are the keys, since a site has few of them, each with many embeds.
  type ComposedByRequest = Map<SnippetRequest, ComposedContent | undefined>;
  const composedByFormat = new Map<string, ComposedByRequest>();
  // Neighbouring embeds share one format object (how content is encoded): its key is made once.
  let lastFormat: InsertionFormat | undefined;
  let composed: ComposedByRequest = new Map();

  return ({ request, format }) => {
    if (format !== lastFormat) {
      const key = formatKey(format);
      composed = composedByFormat.get(key) ?? new Map();
      composedByFormat.set(key, composed);
      lastFormat = format;
    }
    if (!composed.has(request)) {
      const snippet = snippets.get(request.key);
      composed.set(request, snippet && compose({ ...snippet, html: htmlOf(snippet) }, format));
    }
    return composed.get(request);
  };
}
