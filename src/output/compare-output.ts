import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileKind } from '../embed/found-embed.ts';
import { listNames } from '../failures/places.ts';
import { fileKind } from '../files/file-kind.ts';
import { statsOf } from '../files/read.ts';
import { forEachYielding } from '../files/turns.ts';
import { textOf } from '../markup/text-of.ts';
import { hashOf } from '../record/hash-of.ts';
import type { Manifest, RecordedFile } from '../record/manifest.ts';
import { type ReadableFile, readEmbeds } from '../snippets/read-embeds.ts';
import type { SnippetUses } from '../snippets/snippet-use.ts';
import { hasRecordedState, possibleHashes } from './file-states.ts';

/** A page, or an entry of a collection, that only a build can update. */
export interface PageToBuild {
  name: string;
  /** Why only a build can update it: the end of a sentence that begins with the name. */
  reason: string;
}

/** How the files of an output differ from its record. */
export interface OutputComparison {
  /** Files that a build has to write: missing, rolled back, without snippets, or with other contents. */
  toBuild: PageToBuild[];
  /** The names of files that another program changed, but that still show the contents on record. */
  modified: string[];
}

/**
 * Compares the files of an output with its record: it may have been deleted, rolled back, or built without
 * the integration. A file whose size and time are as recorded is not read; all others are compared by bytes.
 */
export async function compareOutput(manifest: Manifest): Promise<OutputComparison> {
  const { output, files, snippets } = manifest;
  if (files.length > 0 && !existsSync(output)) {
    return { toBuild: [{ name: 'The output folder', reason: 'is missing' }], modified: [] };
  }
  const comparison: OutputComparison = { toBuild: [], modified: [] };
  const holdsEmbed = embedFinder(snippets);

  await forEachYielding(files, (recorded) => {
    const { name } = recorded;
    const path = join(output, name);
    const stats = statsOf(path);
    if (!stats) {
      if (!recorded.removedAfterInlining) comparison.toBuild.push({ name, reason: missing });
      return;
    }
    if (hasRecordedState(recorded, stats)) return;

    const bytes = readFileSync(path);
    const hash = hashOf(bytes);
    if (possibleHashes(recorded).has(hash)) return;
    const reason = reasonForChange(recorded, bytes, hash, manifest, holdsEmbed);
    if (reason) comparison.toBuild.push({ name, reason });
    else comparison.modified.push(name);
  });
  return comparison;
}

/**
 * Lists the files of a record that are missing from the output. An output that is not here, as on a machine
 * that only has the record, lacks none of them.
 */
export async function findMissing({ output, files }: Manifest): Promise<PageToBuild[]> {
  const isHere = existsSync(output) && readdirSync(output).some((name) => !name.startsWith('.'));
  if (!isHere) return [];
  const missingFiles: PageToBuild[] = [];
  await forEachYielding(files, ({ name, removedAfterInlining }) => {
    if (removedAfterInlining || existsSync(join(output, name))) return;
    missingFiles.push({ name, reason: missing });
  });
  return missingFiles;
}

const missing = 'is missing';

/** Why a file that has changed needs a build; `undefined` if it still shows what the record says. */
function reasonForChange(
  recorded: RecordedFile,
  bytes: Buffer,
  hash: string,
  manifest: Manifest,
  holdsEmbed: EmbedFinder,
): string | undefined {
  const { name, shows, previousHashes = [] } = recorded;
  if (previousHashes.includes(hash)) return 'is as it was before the last change on record';
  if (holdsEmbed({ name, bytes, kind: fileKind(name) as FileKind })) {
    return 'has embeds: it was written without their snippets';
  }
  if (findDisplayed(bytes, shows, recorded, manifest).length < shows.length) {
    return 'was changed after the build, and does not show what the record says';
  }
  return undefined;
}

/** The warning about files that another program has changed, so that a refresh does not write to them. */
export const describeModified = (names: readonly string[]): string =>
  `Changed after the build, and still with the contents on record: ${listNames(names)}. A refresh does not write to these.`;

/** Says whether a file holds an embed that has still to be replaced. */
export type EmbedFinder = (file: ReadableFile) => boolean;

/** Finds embeds in files. Those that the content of a snippet quotes do not count: they stay in the page. */
export function embedFinder(snippets: Manifest['snippets'] = []): EmbedFinder {
  let quotedUses: SnippetUses | undefined;
  const readQuotedUses = () => {
    const uses: SnippetUses = new Map();
    for (const { content } of snippets) {
      readEmbeds({ name: '', bytes: Buffer.from(content?.text ?? ''), kind: 'html' }, uses);
    }
    return uses;
  };

  return (file) => {
    const { embeds, invalid } = readEmbeds(file, new Map());
    if (invalid.length > 0) return true;
    if (embeds.length === 0) return false;
    // Contents are searched for quoted embeds only once a file has an embed: most outputs have none left.
    quotedUses ??= readQuotedUses();
    const quoted = quotedUses;
    return embeds.some(({ request }) => !quoted.has(request.key));
  };
}

/**
 * Finds which snippets a changed file still displays, by the text of their contents. A snippet whose content
 * is not known counts as displayed.
 *
 * @param indexes the snippets to look for, by their indexes in the record
 */
export function findDisplayed(
  bytes: Buffer,
  indexes: readonly number[],
  file: RecordedFile,
  { snippets }: Manifest,
): number[] {
  const html = bytes.toString();
  const texts = [withoutWhiteSpace(html), withoutWhiteSpace(textOf(html))];
  return indexes.filter((index) => {
    const content = snippets[index]?.content?.text;
    if (content === undefined || file.staleContentHashes?.[index] !== undefined) return true;
    const displayed = withoutWhiteSpace(textOf(content));
    return texts.some((text) => text.includes(displayed));
  });
}

/** Removes white space before texts are compared, as a minifier may have changed it. */
const withoutWhiteSpace = (text: string) => text.replace(/\s+/g, '');
