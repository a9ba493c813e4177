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
  /** The page as it was read, where it was worth keeping; otherwise it is read again. */
  bytes?: Buffer | undefined;
}

export interface SiteEmbeds {
  /** Pages that hold at least one embed, the faulty ones included. */
  pages: SitePage[];
  /** By id and params, in the order in which the site's pages show them. */
  snippets: WantedSnippet[];
  faults: FaultyEmbed[];
}

// To read a small page again takes as long as to scan it; to keep all of a large site takes memory.
const keptAtMost = 32 * 1024 * 1024;

/**
 * Reads pages and finds what they embed.
 *
 * @param onPlain called with each page that embeds nothing, and is as it will be published.
 * @param onWanted called with each snippet as soon as the first embed of it is found.
 */
export async function findEmbeds(
  files: readonly SiteFile[],
  signal: AbortSignal,
  onPlain: (file: SiteFile, bytes: Buffer) => void,
  onWanted: (snippet: WantedSnippet) => void,
): Promise<SiteEmbeds> {
  const wanted: WantedSnippets = new Map();
  const pages: SitePage[] = [];
  const faults: FaultyEmbed[] = [];
  let kept = 0;
  await inTurns(files, signal, (source) => {
    const bytes = readFileSync(source.file);
    const found = readPageEmbeds(source.name, bytes, wanted);
    // One that is on this page alone was not found before.
    for (const { snippet } of found.embeds) if (snippet.pages.size === 1) onWanted(snippet);
    if (found.embeds.length + found.faults.length === 0) return onPlain(source, bytes);
    kept += bytes.length;
    pages.push({ source, embeds: found.embeds, bytes: kept > keptAtMost ? undefined : bytes });
    for (const fault of found.faults) faults.push(fault);
  });
  return { pages, snippets: [...wanted.values()], faults };
}
