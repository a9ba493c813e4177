import { readFileSync } from 'node:fs';
import {
  type FaultyEmbed,
  type PageEmbed,
  readPageEmbeds,
  type WantedSnippet,
  type WantedSnippets,
} from '../wanted/page-embeds.ts';
import { inTurns } from './in-turns.ts';
import type { SiteFile } from './site-files.ts';

/** A page that holds embeds. */
export interface SitePage {
  source: SiteFile;
  embeds: PageEmbed[];
}

export interface SiteEmbeds {
  /** Pages that hold at least one embed, the faulty ones included. */
  pages: SitePage[];
  /** By id and params, in the order in which the site's pages show them. */
  snippets: WantedSnippet[];
  faults: FaultyEmbed[];
}

/**
 * Reads pages and finds what they embed.
 *
 * @param onPlain called with each page that embeds nothing, and is as it will be published.
 */
export async function findEmbeds(
  files: readonly SiteFile[],
  signal: AbortSignal,
  onPlain: (file: SiteFile, bytes: Buffer) => void,
): Promise<SiteEmbeds> {
  const wanted: WantedSnippets = new Map();
  const pages: SitePage[] = [];
  const faults: FaultyEmbed[] = [];
  await inTurns(files, signal, (source) => {
    const bytes = readFileSync(source.file);
    const found = readPageEmbeds(source.name, bytes, wanted);
    if (found.embeds.length + found.faults.length === 0) return onPlain(source, bytes);
    pages.push({ source, embeds: found.embeds });
    for (const fault of found.faults) faults.push(fault);
  });
  return { pages, snippets: [...wanted.values()], faults };
}
