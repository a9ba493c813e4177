import { open, readFile } from 'node:fs/promises';
import { inline } from '../embed/index.ts';
import type { SiteEmbed, SitePage, WantedSnippet } from './find-embeds.ts';

/**
 * Puts the contents in the place of the embeds, page by page. An embed whose snippet has no content gets its
 * fallback. Every page that is done is taken out of `pages`, so that after an interruption it holds just those
 * that still have embeds in them.
 */
export async function inlinePages(
  pages: Set<SitePage>,
  contents: ReadonlyMap<WantedSnippet, string>,
  signal: AbortSignal,
): Promise<void> {
  for (const page of pages) {
    signal.throwIfAborted();
    const before = await readFile(page.file);
    const after = inline(before, page.embeds, (embed) => contents.get((embed as SiteEmbed).snippet));
    await overwrite(page.file, after, before.length);
    pages.delete(page);
  }
}

/**
 * Writes a page in place: nobody reads it yet, and to write a new file and rename it costs many times more. An
 * interrupted write is no danger, because the page is removed with the others that were not done.
 */
async function overwrite(file: string, bytes: Buffer, lengthBefore: number): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    for (let written = 0; written < bytes.length; ) {
      const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, written);
      written += bytesWritten;
    }
    if (bytes.length < lengthBefore) await handle.truncate(bytes.length);
  } finally {
    await handle.close();
  }
}
