import { parseParams, parseSnippetId, SnippetError } from '../client/snippet-input.ts';
import { type EmbedFault, type FoundEmbed, isText, lineAt, scan } from '../embed/index.ts';
import { snippetKey } from './snippet-key.ts';

/** A snippet that pages need: asked for once, however many embeds show it. */
export interface WantedSnippet {
  /** Its id and params as one text: the same for the same snippet. */
  key: string;
  id: number;
  /** Canonical JSON. */
  params: string | undefined;
  /** The names of the pages it is on. */
  pages: Set<string>;
  /** Whether an embed of it shows HTML, and not text. */
  asHtml: boolean;
  /** The names of the pages where an embed of it has no fallback. */
  pagesWithoutFallback: Set<string>;
}

/** The wanted snippets by their keys. */
export type WantedSnippets = Map<string, WantedSnippet>;

export interface PageEmbed extends FoundEmbed {
  snippet: WantedSnippet;
}

/** An embed that cannot be used, and where it stands. */
export interface FaultyEmbed {
  page: string;
  line: number;
  flaw: string;
}

export interface PageEmbeds {
  embeds: PageEmbed[];
  faults: FaultyEmbed[];
}

/**
 * Finds what a page embeds, and adds to `wanted` the snippets that it needs.
 *
 * @param name what people know the page by.
 */
export function readPageEmbeds(name: string, page: Buffer, wanted: WantedSnippets): PageEmbeds {
  const { embeds: found, faults: broken } = scan(page);
  const embeds: PageEmbed[] = [];
  const faults = broken.map((fault) => ({ start: fault.start, flaw: describe(fault, page) }));
  for (const embed of found) {
    try {
      embeds.push({ ...embed, snippet: want(wanted, embed, name) });
    } catch (error) {
      if (!(error instanceof SnippetError)) throw error;
      faults.push({ start: embed.start, flaw: error.message });
    }
  }
  return {
    embeds,
    faults: faults
      .sort((a, b) => a.start - b.start)
      .map(({ start, flaw }) => ({ page: name, line: lineAt(page, start), flaw })),
  };
}

function want(wanted: WantedSnippets, embed: FoundEmbed, page: string): WantedSnippet {
  const { attributes, fallback, inIsland } = embed;
  const id = parseSnippetId(attributes.id);
  const params = attributes.params === undefined ? undefined : parseParams(attributes.params);
  if (attributes.as !== undefined && attributes.as !== 'html' && attributes.as !== 'text') {
    throw new SnippetError('invalid-params', `The attribute as of an embed is "html" or "text".`);
  }
  if (inIsland) {
    throw new SnippetError(
      'invalid-params',
      `The embed of snippet ${id} is in an island's own markup, and would vanish when the island hydrates: pass it to the island as children.`,
    );
  }
  const key = snippetKey(id, params);
  const snippet = wanted.get(key) ?? {
    key,
    id,
    params,
    pages: new Set(),
    asHtml: false,
    pagesWithoutFallback: new Set(),
  };
  wanted.set(key, snippet);
  snippet.asHtml ||= !isText(embed);
  snippet.pages.add(page);
  if (fallback.start === fallback.end) snippet.pagesWithoutFallback.add(page);
  return snippet;
}

function describe(fault: EmbedFault, page: Buffer): string {
  return fault.flaw === 'unclosed'
    ? 'The embed has no end: write </snippet-embed> after it.'
    : `The embed stands inside the one of line ${lineAt(page, fault.outer)}; close that one first.`;
}
