import { readFile } from 'node:fs/promises';
import {
  type FaultyEmbed,
  type PageEmbed,
  readPageEmbeds,
  type WantedSnippet,
  type WantedSnippets,
} from '../wanted/page-embeds.ts';
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

/** Reads pages and finds what they embed. */
export async function findEmbeds(files: readonly SiteFile[], signal: AbortSignal): Promise<SiteEmbeds> {
  const wanted: WantedSnippets = new Map();
  const pages: SitePage[] = [];
  const faults: FaultyEmbed[] = [];
  for (const source of files) {
    signal.throwIfAborted();
    const found = readPageEmbeds(source.name, await readFile(source.file), wanted);
    if (found.embeds.length + found.faults.length === 0) continue;
    pages.push({ source, embeds: found.embeds });
    faults.push(...found.faults);
  }
  return { pages, snippets: [...wanted.values()], faults };
}
