import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileKind } from '../embed/found-embed.ts';
import { listNames } from '../failures/places.ts';
import { fileKind } from '../files/file-kind.ts';
import { statsOf } from '../files/read.ts';
import { forEachYielding } from '../files/turns.ts';
import { textOf } from '../markup/text-of.ts';
import { hashOf, type Manifest, type ManifestFile } from '../record/manifest.ts';
import { type ReadableFile, readEmbeds } from '../snippets/read-embeds.ts';
import type { SnippetUses } from '../snippets/snippet-use.ts';
import { possibleHashes } from './file-states.ts';

export const describeChanged = (names: readonly string[]) =>
  `Changed after the build, and still with the contents on record: ${listNames(names)}. A refresh does not write to these.`;

/** A page, or a collection's entry, that only a build can update. */
export interface PageToBuild {
  name: string;
  /** The end of a sentence that begins with the name. */
  reason: string;
}

/** Compares files with a record: sizes and times, and bytes where these differ. */
export async function compareOutput(manifest: Manifest): Promise<{
  toBuild: {
    name: string;
    reason: string;
  }[];
  changed: string[];
}> {
  const { output } = manifest;
  const toBuild: PageToBuild[] = [];
  /** Written by another program. They still show what the record says. */
  const changed: string[] = [];
  if (manifest.files.length > 0 && !existsSync(output)) {
    return { toBuild: [{ name: 'The output folder', reason: 'is missing' }], changed };
  }
  const holdsEmbed = embedFinder(manifest.snippets);
  await forEachYielding(manifest.files, (recorded) => {
    const { name, size, modifiedAt, shows, previousHashes = [] } = recorded;
    const path = join(output, name);
    const found = statsOf(path);
    const refuse = (reason: string) => void toBuild.push({ name, reason });
    if (!found) return refuse('is missing');
    if (found.size === size && Math.floor(found.mtimeMs) === modifiedAt) return;
    const bytes = readFileSync(path);
    const hashNow = hashOf(bytes);
    if (possibleHashes(recorded).has(hashNow)) return;
    if (previousHashes.includes(hashNow)) return refuse('is as it was before the last change on record');
    if (holdsEmbed({ name, bytes, kind: fileKind(name) as FileKind }))
      return refuse('has embeds: it was written without their snippets');
    if (findDisplayed(bytes, shows, recorded, manifest).length < shows.length) {
      return refuse('was changed after the build, and does not show what the record says');
    }
    changed.push(name);
  });
  return { toBuild, changed };
}

/** Finds embeds, besides those that contents quote. */
export function embedFinder(snippets: Manifest['snippets'] = []) {
  let quoted: SnippetUses | undefined;
  return (file: ReadableFile): boolean => {
    const { embeds, invalid } = readEmbeds(file, new Map());
    if (embeds.length > 0 && !quoted) {
      quoted = new Map();
      for (const { content } of snippets)
        readEmbeds({ name: '', bytes: Buffer.from(content?.text ?? ''), kind: 'html' }, quoted);
    }
    return invalid.length > 0 || embeds.some(({ request }) => !quoted?.has(request.key));
  };
}

/** Which of these a file that has changed shows. A snippet whose content is not known counts. */
export function findDisplayed(
  bytes: Buffer,
  shows: number[],
  file: ManifestFile,
  { snippets }: Manifest,
): number[] {
  const html = bytes.toString();
  const texts = [html, textOf(html)].map(withoutSpace);
  return shows.filter((index) => {
    const content = snippets[index]?.content?.text;
    if (content === undefined || file.staleContentHashes?.[index] !== undefined) return true;
    const shown = withoutSpace(textOf(content));
    return texts.some((text) => text.includes(shown));
  });
}

const withoutSpace = (text: string) => text.replace(/\s+/g, '');
