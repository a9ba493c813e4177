import { describeNote, type InvalidEmbed } from '../failures/embed-notes.ts';
import { forEachYielding } from '../files/turns.ts';
import type { ScannableFile } from '../output/site-files.ts';
import { pathOfFile } from '../settings/site-urls.ts';
import type { FileEmbed } from '../snippets/read-embeds.ts';
import type { SnippetUse, SnippetUses } from '../snippets/snippet-use.ts';
import type { GeneratedSite } from './generated-site.ts';
import { readEmbedding } from './verify-output.ts';

export type ScannedSite = Awaited<ReturnType<typeof scanSite>>;

/** Reads files and finds their embeds. Those without are checked for the API key. */
export async function scanSite(
  scannable: readonly ScannableFile[],
  site: GeneratedSite,
): Promise<{
  startedAt: number;
  files: (ScannableFile & {
    embeds: readonly FileEmbed[];
    size: number;
  })[];
  invalid: InvalidEmbed[];
  uses: SnippetUse[];
}> {
  const { settings, fetcher, verifier, urls, logger, search } = site;
  const { params } = settings;
  const { pageParams } = await import('../snippets/page-params.ts');
  const { readEmbeds } = await import('../snippets/read-embeds.ts');
  const startedAt = Date.now();
  const uses: SnippetUses = new Map();
  const invalid: InvalidEmbed[] = [];
  /** Those with an embed, even if it is invalid. */
  const files: (ScannableFile & { embeds: readonly FileEmbed[]; size: number })[] = [];
  await forEachYielding(scannable, (source) => {
    const { name, kind, generated } = source;
    const bytes = generated?.() ?? readEmbedding(source);
    if (!bytes) return verifier.check(source, bytes);
    const addParams = params && pageParams(params, pathOfFile(name, kind === 'html', urls));
    const known = uses.size;
    const found = readEmbeds({ name, kind, bytes, addParams, isInlined: !!generated }, uses);
    for (const note of found.warnings) logger.warn(describeNote(note, search?.whereWritten));
    const { embeds } = found;
    if (embeds.length + found.invalid.length === 0) return verifier.check(source, bytes);
    for (const embed of found.invalid) invalid.push(embed);
    for (const { request } of uses.size > known ? embeds : [])
      if (uses.get(request.key)?.places.length === 1) fetcher.answers.prefetch(request);
    files.push(Object.assign(source, { embeds, size: bytes.length }));
  });
  return { startedAt, files, invalid, uses: [...uses.values()] };
}
