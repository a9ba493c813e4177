import type { Stats } from 'node:fs';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { isRestricted } from '../content/blocked.ts';
import { allowInPage, type PolicyRules, type PolicySources, sourcesOf } from '../content/csp.ts';
import { absoluteLinks, absoluteUrl } from '../content/links.ts';
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
import { isJsonFeed } from './feeds/read-feed.ts';

/** The parts of a snippet that a page needs. */
export type InlinableSnippet = SnippetContent &
  Pick<PreparedSnippet, 'htmlElsewhere' | 'inlineCode' | 'images'>;

export interface InlineOptions extends EditLinks {
  /** Snippets by the keys of their requests. An embed without a snippet shows its children. */
  snippets: ReadonlyMap<string, InlinableSnippet>;
  rules: PolicyRules;
  /** The URL of the site, if it is known: it makes links in feeds absolute. */
  site?: string | undefined;
  /** Adds what a page has to allow to the policies that are sent as headers, and returns these. */
  allowInHeaders?: (page: string, sources: PolicySources) => string[];
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
  /** The policies of the page, if there is anything on it that they may block; `undefined` if not known. */
  policies: readonly string[] | undefined;
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

/** The policies of a page, as in {@link InlinedPage}, and the edits of its own. */
type EditedPolicies = Pick<InlinedPage, 'policies'> & { edits: Edit[] };

const noPolicies: EditedPolicies = { edits: [], policies: [] };

/** Returns the function that inlines snippets into a page, in builds, refreshes, `inline` and `astro dev`. */
export function pageInliner(options: InlineOptions): InlinePage {
  const { snippets, rules, site, allowInHeaders, scratchBuffer, ...editLinks } = options;
  const composeInPage = cachedComposer(snippets, (snippet) => snippet);
  const composeElsewhere = cachedComposer(snippets, contentElsewhere);
  const composeInFeed = cachedComposer(snippets, (snippet) => contentInFeed(snippet, site));
  const changesPolicies = rules.policy === 'hash' || rules.editLinks !== undefined;
  // Most sites have no such snippet, so that no page is searched for policies.
  const mayBeRestricted = changesPolicies || snippets.values().some(isRestricted);

  /** Allows what is inlined in the policies of a page, both in its headers and in its own elements. */
  const editPolicies = (name: string, generated: Buffer, embeds: readonly FileEmbed[]): EditedPolicies => {
    const inlinedAsHtml = embeds.flatMap(({ format, request }) =>
      format.as !== 'html' ? [] : (snippets.get(request.key) ?? []),
    );
    if (!changesPolicies && !inlinedAsHtml.some(isRestricted)) return noPolicies;
    const sources = sourcesOf(inlinedAsHtml, rules);
    const inHeaders = allowInHeaders?.(name, sources);
    const isInEmbed = (offset: number) => embeds.some(({ start, end }) => start <= offset && offset < end);
    const { edits, policies } = allowInPage(generated, sources, isInEmbed);
    // A refresh does not know the headers. They have no policy if the page has its own, or if Astro makes none.
    const areKnown = inHeaders !== undefined || policies.length > 0 || rules.policy === 'none';
    return { edits, policies: areKnown ? [...policies, ...(inHeaders ?? [])] : undefined };
  };

  return ({ name, kind }, generated, embeds) => {
    const isPage = kind === 'html';
    const { embeds: markedEmbeds, script } = linkPage(generated, embeds, isPage ? editLinks : {});
    const { edits: policyEdits, policies } =
      isPage && mayBeRestricted ? editPolicies(name, generated, markedEmbeds) : noPolicies;

    const isWholeFeed = !isPage && isJsonFeed(generated);
    const composeOffPage = (embed: FileEmbed) =>
      isWholeFeed || isInXml(embed.format) ? composeInFeed(embed) : composeElsewhere(embed);
    const composeContent = isPage ? composeInPage : composeOffPage;
    const edits = script ? [...policyEdits, script] : policyEdits;
    const bytes = replaceEmbeds(generated, markedEmbeds, composeContent, edits, scratchBuffer);
    const hasMetaPolicy = policyEdits.length > 0;
    return { generated, embeds, bytes, hasMetaPolicy, policies, isLinked: script !== undefined };
  };
}

/** The content of a snippet in files that are no pages. */
function contentElsewhere(snippet: InlinableSnippet): SnippetContent {
  const { html, htmlElsewhere = html } = snippet;
  return { ...snippet, html: htmlElsewhere };
}

/** The content of a snippet in feeds, which readers show on other hosts. @param site the URL of the site */
function contentInFeed(snippet: InlinableSnippet, site: string | undefined): SnippetContent {
  const content = contentElsewhere(snippet);
  if (site === undefined) return content;
  const { html, text, url = text } = content;
  return { ...content, html: absoluteLinks(html, site), url: absoluteUrl(url, site) };
}

/** Whether content is written into XML. All XML counts as a feed: what reads it is no browser on the site. */
const isInXml = ({ layers }: InsertionFormat): boolean =>
  layers.some((layer) => layer === 'xml-text' || layer === 'xml-attribute' || layer === 'cdata');

/** Composes the content of a snippet once for all of its embeds that are encoded alike. */
function cachedComposer(
  snippets: InlineOptions['snippets'],
  contentOf: (snippet: InlinableSnippet) => SnippetContent,
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
      composed.set(request, snippet && compose(contentOf(snippet), format));
    }
    return composed.get(request);
  };
}
