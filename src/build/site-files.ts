import { readdirSync } from 'node:fs';
import { extname, sep } from 'node:path';

/** A file of the built site. */
export interface SiteFile {
  /** Where it is on the disk. */
  file: string;
  /** How people know it: relative to the output directory, with slashes. */
  name: string;
}

export interface SiteFiles {
  pages: SiteFile[];
  /** Files of text that are no pages: feeds, JSON, scripts, styles, source maps. */
  texts: SiteFile[];
}

const pageExtensions = new Set(['.html', '.htm', '.xhtml']);

// Formats that cannot hold text as it was written. Everything else is taken for text, so that a format nobody
// thought of is looked at rather than passed over.
const binaryExtensions = new Set(
  `.avif .bmp .br .eot .gif .gz .heic .ico .jpeg .jpg .jxl .mov .mp3 .mp4 .ogg .otf .pdf .png .tar .tif .tiff .ttf
  .wasm .wav .webm .webp .woff .woff2 .zip .zst`.split(/\s+/),
);

/** Lists the files of a built site, in an order that does not depend on the disk. */
export function listSiteFiles(directory: string): SiteFiles {
  const files: SiteFiles = { pages: [], texts: [] };
  // Folder by folder, because names that are put together here need not be taken apart again.
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
