import { open, readFile } from 'node:fs/promises';
import type { Snippet } from '../client/snippet-client.ts';
import { type Inlined, inline } from '../embed/index.ts';
import type { PageEmbed, WantedSnippet } from '../wanted/page-embeds.ts';
import type { SitePage } from './find-embeds.ts';

/**
 * Puts the contents in the place of the embeds, page by page. An embed whose snippet has no content gets its
 * fallback.
 *
 * @param onDone called with each page, and what was put into it, as soon as no embed is left in it.
 */
export async function inlinePages(
  pages: readonly SitePage[],
  contents: ReadonlyMap<WantedSnippet, Snippet>,
  signal: AbortSignal,
  onDone: (page: SitePage, inlined: Inlined<PageEmbed>) => void,
): Promise<void> {
  for (const page of pages) {
    signal.throwIfAborted();
    const before = await readFile(page.source.file);
    const inlined = inline(before, page.embeds, ({ snippet }) => contents.get(snippet)?.content);
    await overwrite(page.source.file, inlined.page, before.length);
    onDone(page, inlined);
  }
}

/**
 * Writes a page in place: nobody reads it yet, and to write a new file and rename it costs many times more. An
 * interruption waits for the page that is being written.
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
