import type { Stats } from 'node:fs';
import type { FileKind } from '../embed/found-embed.ts';
import { describeNote, type InvalidEmbed } from '../failures/embed-notes.ts';
import { firstBytesOf } from '../files/read.ts';
import { forEachYielding } from '../files/turns.ts';
import type { ScannableFile } from '../output/site-files.ts';
import { pathOfFile } from '../settings/site-urls.ts';
import type { FileEmbed } from '../snippets/read-embeds.ts';
import type { SnippetUse, SnippetUses } from '../snippets/snippet-use.ts';
import { isFeed } from './feeds/read-feed.ts';
import type { GeneratedSite } from './generated-site.ts';
import { withEmbeddingFile } from './verify-output.ts';

/** A file that holds an embed, even if the embed is invalid. */
export interface ScannedFile extends ScannableFile {
  /** The valid embeds, in the order of the file. */
  embeds: readonly FileEmbed[];
  /** The size of the file as it was generated, in bytes. */
  size: number;
}

/** The embeds of a site, by files and by snippets. */
export interface ScannedSite {
  /** When the scan began, in milliseconds since the epoch. */
  startedAt: number;
  /** The files that hold embeds. */
  files: ScannedFile[];
  /** The feeds, with embeds or without. */
  feeds: ScannableFile[];
  /** The embeds that are invalid, each of which fails the build. */
  invalid: InvalidEmbed[];
  /** Each distinct request, with the files that need its snippet. */
  uses: SnippetUse[];
}

const mayBeFeed: ReadonlySet<FileKind> = new Set(['xml', 'json', 'other']);

/**
 * Reads files and finds their embeds. Each snippet is prefetched when its first embed is found, while the
 * scan goes on. Files without embeds do not change any more, so they are checked for the API key here.
 */
export async function scanSite(
  scannable: readonly ScannableFile[],
  site: GeneratedSite,
): Promise<ScannedSite> {
  const { settings, fetcher, verifier, urls, logger, astro } = site;
  const { params } = settings;
  const { pageParams, readEmbeds } = await import('../snippets/read-embeds.ts');
  const startedAt = Date.now();
  const uses: SnippetUses = new Map();
  const invalid: InvalidEmbed[] = [];
  const files: ScannedFile[] = [];
  const feeds: ScannableFile[] = [];

  const scanFile = (file: ScannableFile, bytes: Buffer | undefined, stats?: Stats) => {
    const { name, kind, generated } = file;
    if (mayBeFeed.has(kind) && isFeed(bytes ?? firstBytesOf(file.file))) feeds.push(file);
    if (!bytes) return verifier.check(file, bytes, stats);

    const addParams = params && pageParams(params, pathOfFile(name, kind === 'html', urls));
    const knownUses = uses.size;
    const results = readEmbeds({ name, kind, bytes, addParams, showsSnippets: !!generated }, uses);
    const { embeds } = results;
    for (const { place, code } of results.scripts) verifier.code.addScript({ place }, code);
    for (const note of results.warnings) logger.warn(describeNote(note, astro?.search.whereWritten));
    if (embeds.length + results.invalid.length === 0) return verifier.check(file, bytes, stats);

    for (const embed of results.invalid) invalid.push(embed);
    if (uses.size > knownUses) {
      for (const { request } of embeds) {
        if (uses.get(request.key)?.places.length === 1) fetcher.prefetch(request);
      }
    }
    // Adding to the listed object takes less memory than copying it, and keeps its path lazy (a getter).
    files.push(Object.assign(file, { embeds, size: bytes.length }));
  };
  await forEachYielding(scannable, (file) => {
    if (file.generated) scanFile(file, file.generated());
    else withEmbeddingFile(file, (bytes, stats) => scanFile(file, bytes, stats));
  });
  return { startedAt, files, feeds, invalid, uses: [...uses.values()] };
}
