import { readdirSync, readFileSync } from 'node:fs';
import { extname, sep } from 'node:path';
import type { InvalidEmbed } from '../failures/report.ts';
import {
  type PageEmbed,
  readPageEmbeds,
  type SnippetUse,
  type SnippetUses,
} from '../snippets/page-embeds.ts';
import { inTurns } from './in-turns.ts';

/** A file of the built site. */
export interface SiteFile {
  /** Its path on disk. */
  file: string;
  /** How people know it: its path in the output folder, with slashes. */
  name: string;
}

export interface SiteFiles {
  pages: SiteFile[];
  /** Text files that are not pages: feeds, JSON, scripts, styles, source maps. */
  texts: SiteFile[];
}

const pageExtensions = new Set(['.html', '.htm', '.xhtml']);

// Formats that cannot contain plain text. Everything else counts as text, so that an unknown format is searched.
const binaryExtensions = new Set(
  `.avif .bmp .br .eot .gif .gz .heic .ico .jpeg .jpg .jxl .mov .mp3 .mp4 .ogg .otf .pdf .png .tar .tif .tiff .ttf
  .wasm .wav .webm .webp .woff .woff2 .zip .zst`.split(/\s+/),
);

/** Lists the files of the output, in an order that does not depend on the disk. */
export function listSiteFiles(directory: string): SiteFiles {
  const files: SiteFiles = { pages: [], texts: [] };
  // Folder by folder, because joining names is cheaper than taking recursive paths apart.
  const list = (folder: string, prefix: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const found = { file: `${folder}${sep}${entry.name}`, name: `${prefix}${entry.name}` };
      if (entry.isDirectory()) list(found.file, `${found.name}/`);
      if (!entry.isFile()) continue;
      const extension = extname(entry.name).toLowerCase();
      if (pageExtensions.has(extension)) files.pages.push(found);
      else if (!binaryExtensions.has(extension)) files.texts.push(found);
    }
  };
  list(directory.endsWith(sep) ? directory.slice(0, -1) : directory, '');
  const byName = (a: SiteFile, b: SiteFile) => (a.name < b.name ? -1 : 1);
  files.pages.sort(byName);
  files.texts.sort(byName);
  return files;
}

/** A page that contains embeds. */
export interface SitePage {
  source: SiteFile;
  embeds: PageEmbed[];
  /** The page's bytes if they are kept in memory; otherwise the page is read again. */
  bytes?: Buffer | undefined;
}

export interface ScannedSite {
  /** Pages with at least one embed, even if it is invalid. */
  pages: SitePage[];
  /** In the order in which the pages show them. */
  uses: SnippetUse[];
  invalid: InvalidEmbed[];
}

export interface ScanEvents {
  /** Called with each page that contains no embed, and so is not changed. */
  onPlainPage(file: SiteFile, bytes: Buffer): void;
  /** Called with each snippet when its first page is found; more than once if that page repeats it. */
  onSnippet(use: SnippetUse): void;
}

// Reading a page again takes as long as scanning it; keeping all pages of a large site takes too much memory.
const maxKeptBytes = 32 * 1024 * 1024;

/** Reads pages and finds their embeds. */
export async function scanSite(
  files: readonly SiteFile[],
  { onPlainPage, onSnippet }: ScanEvents,
): Promise<ScannedSite> {
  const uses: SnippetUses = new Map();
  const pages: SitePage[] = [];
  const invalid: InvalidEmbed[] = [];
  let keptBytes = 0;
  await inTurns(files, (source) => {
    const bytes = readFileSync(source.file);
    const found = readPageEmbeds(source.name, bytes, uses);
    for (const { request } of found.embeds) {
      const use = uses.get(request.key);
      if (use?.places.size === 1) onSnippet(use);
    }
    if (found.embeds.length + found.invalid.length === 0) return onPlainPage(source, bytes);
    keptBytes += bytes.length;
    pages.push({ source, embeds: found.embeds, bytes: keptBytes > maxKeptBytes ? undefined : bytes });
    for (const embed of found.invalid) invalid.push(embed);
  });
  return { pages, uses: [...uses.values()], invalid };
}
