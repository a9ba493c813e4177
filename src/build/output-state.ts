import { existsSync, readFileSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { textOf } from '../embed/html-scanner.ts';
import type { FileKind } from '../embed/scan.ts';
import { listNames, userError } from '../failures/errors.ts';
import { fileKind, forEachYielding, statsOf, wasWrittenAfter } from '../files/files.ts';
import { hashOf, type Manifest, type ManifestFile } from '../record/manifest.ts';
import { type ReadableFile, readEmbeds, type SnippetUses } from '../snippets/file-embeds.ts';
import type { ScannableFile, SiteFile } from './scan-site.ts';
import { hashOfCopy, withoutSuffix } from './side-products.ts';

// Whether the output is what the record says: it may be gone, rolled back, or built without the integration.

const pastStates = 3;

/**
 * The files of a new record as later steps, such as a minifier, have left them.
 *
 * @param at when they were inlined; `undefined` without later steps
 */
export async function finalizeFiles({ output, files }: Manifest, at: number | undefined, before?: Manifest) {
  const earlier = new Map(before?.files.map((file) => [file.name, file]));
  const sealed: ManifestFile[] = [];
  await forEachYielding(files, (file) => {
    // Not copied: that would take as much memory again.
    const seal = (found: FileStats, hash: string) =>
      void sealed.push(Object.assign(file, toFileState(found, hash, earlier.get(file.name))));
    if (at === undefined) return seal({ size: file.size, mtimeMs: file.modifiedAt }, file.hash);
    const path = join(output, file.name);
    const found = statsOf(path);
    if (!found) return;
    const hash = wasWrittenAfter(found, at) ? hashOf(readFileSync(path)) : file.hash;
    if (hash !== file.hash) file.changedAfterInlining = true;
    seal(found, hash);
  });
  return sealed;
}

/** Who may have changed files later: the beginning of a sentence. */
export const describeLate = ({ laterIntegrations = [] }: Partial<Manifest>) =>
  new Intl.ListFormat('en', { type: 'disjunction' }).format(laterIntegrations) || 'Another integration';

type FileStats = Pick<Stats, 'size' | 'mtimeMs'>;

export function toFileState({ size, mtimeMs }: FileStats, hash: string, before: ManifestFile | undefined) {
  const states = before ? [before.hash, ...(before.previousHashes ?? [])] : [];
  const previousHashes = states.filter((one) => one !== hash).slice(0, pastStates);
  return {
    size,
    modifiedAt: Math.floor(mtimeMs),
    hash,
    previousHashes: previousHashes.length === 0 ? undefined : previousHashes,
  };
}

export const possibleHashes = ({ hash, expectedHashes = [] }: ManifestFile) =>
  new Set([hash, ...expectedHashes]);

export const describeChanged = (names: readonly string[]) =>
  `Changed after the build, and still with the contents on record: ${listNames(names)}. A refresh does not write to these.`;

/** A page, or a collection's entry, that only a build can update. */
export interface PageToBuild {
  name: string;
  /** The end of a sentence that begins with the name. */
  reason: string;
}

/** Compares files with a record: sizes and times, and bytes where these differ. */
export async function compareOutput(manifest: Manifest) {
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

/** @param late files that were written after inlining, and may hold embeds. */
export function refuseLateFiles(late: ScannableFile[], compressed: SiteFile[], inlined?: Manifest) {
  const hashes = new Map(inlined?.files.map(({ name, hash }) => [name, hash]));
  const holdsEmbed = embedFinder(inlined?.snippets);
  const withEmbed = late.filter(({ file, name, kind }) => {
    const bytes = readFileSync(file);
    return hashes.get(name) !== hashOf(bytes) && holdsEmbed({ name, kind, bytes });
  });
  if (withEmbed.length > 0) {
    const what = `Another integration wrote an embed into ${namesOf(withEmbed)} after snippets were inlined.`;
    throw userError('late-embed', what);
  }
  const stale = compressed.filter((copy) => {
    if (!hashes.has(withoutSuffix(copy.name))) return false;
    const page = readFileSync(withoutSuffix(copy.file));
    return hashOfCopy(copy, [page]) !== hashOf(page);
  });
  if (stale.length > 0) {
    const what = `${namesOf(stale)} ${stale.length === 1 ? 'does' : 'do'} not decompress to the file beside it.`;
    throw userError('stale-compressed-file', what);
  }
}

const namesOf = (files: readonly SiteFile[]) => files.map(({ name }) => name).join(', ');

/** Finds embeds, besides those that contents quote. */
function embedFinder(snippets: Manifest['snippets'] = []) {
  let quoted: SnippetUses | undefined;
  return (file: ReadableFile) => {
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
export function findDisplayed(bytes: Buffer, shows: number[], file: ManifestFile, { snippets }: Manifest) {
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
