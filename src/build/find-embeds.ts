import { readFile } from 'node:fs/promises';
import { parseParams, parseSnippetId, SnippetError } from '../client/snippet-input.ts';
import { type EmbedFault, type FoundEmbed, lineAt, scan } from '../embed/index.ts';
import type { SiteFile } from './site-files.ts';

/** A snippet that the site needs: asked for once, however many embeds show it. */
export interface WantedSnippet {
  id: number;
  /** Canonical JSON. */
  params: string | undefined;
  /** The names of the pages it is on. */
  pages: Set<string>;
  /** The names of the pages where an embed of it has no fallback. */
  pagesWithoutFallback: Set<string>;
}

export interface SiteEmbed extends FoundEmbed {
  snippet: WantedSnippet;
}

/** A page that holds embeds. */
export interface SitePage {
  source: SiteFile;
  embeds: SiteEmbed[];
}

/** An embed that cannot be used, and where it stands. */
export interface FaultyEmbed {
  page: string;
  line: number;
  flaw: string;
}

export interface SiteEmbeds {
  /** Pages that hold at least one embed, the faulty ones included. */
  pages: SitePage[];
  /** By id and params, in the order in which the site's pages show them. */
  snippets: WantedSnippet[];
  faults: FaultyEmbed[];
}

/** Reads pages and finds what they embed. */
export async function findEmbeds(files: readonly SiteFile[], signal: AbortSignal): Promise<SiteEmbeds> {
  const snippets = new Map<string, WantedSnippet>();
  const pages: SitePage[] = [];
  const faults: FaultyEmbed[] = [];
  for (const file of files) {
    signal.throwIfAborted();
    const bytes = await readFile(file.file);
    const found = scan(bytes);
    const page: SitePage = { source: file, embeds: [] };
    const fault = (start: number, flaw: string) =>
      faults.push({ page: file.name, line: lineAt(bytes, start), flaw });
    for (const embed of found.embeds) {
      try {
        page.embeds.push({ ...embed, snippet: want(snippets, embed, file.name) });
      } catch (error) {
        if (!(error instanceof SnippetError)) throw error;
        fault(embed.start, error.message);
      }
    }
    for (const flaw of found.faults) fault(flaw.start, describe(flaw, bytes));
    if (found.embeds.length + found.faults.length > 0) pages.push(page);
  }
  return { pages, snippets: [...snippets.values()], faults };
}

function want(snippets: Map<string, WantedSnippet>, embed: FoundEmbed, page: string): WantedSnippet {
  const { attributes, fallback } = embed;
  const id = parseSnippetId(attributes.id);
  const params = attributes.params === undefined ? undefined : parseParams(attributes.params);
  if (attributes.as !== undefined && attributes.as !== 'html' && attributes.as !== 'text') {
    throw new SnippetError('invalid-params', `The attribute as of an embed is "html" or "text".`);
  }
  const key = params === undefined ? `${id}` : `${id} ${params}`;
  const snippet: WantedSnippet = snippets.get(key) ?? {
    id,
    params,
    pages: new Set(),
    pagesWithoutFallback: new Set(),
  };
  snippets.set(key, snippet);
  snippet.pages.add(page);
  if (fallback.start === fallback.end) snippet.pagesWithoutFallback.add(page);
  return snippet;
}

function describe(fault: EmbedFault, page: Buffer): string {
  return fault.flaw === 'unclosed'
    ? 'The embed has no end: write </snippet-embed> after it.'
    : `The embed stands inside the one of line ${lineAt(page, fault.outer)}; close that one first.`;
}
