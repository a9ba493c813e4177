import { isDeepStrictEqual } from 'node:util';
import { usesOf } from '../record/changes.ts';
import {
  hashOf,
  hashOfFile,
  type Manifest,
  type ManifestFile,
  placesIn,
  requestsOf,
} from '../record/manifest.ts';
import { dropUnusedKinds } from '../record/places.ts';
import { type Renewal, renew } from '../record/refresh.ts';
import type { Settings } from '../settings/settings.ts';
import type { FetchedSnippets } from '../snippets/fetch-snippets.ts';
import { type SnippetUse, snippetUse } from '../snippets/file-embeds.ts';
import type { RewriteFile } from './inline-files.ts';
import { readUnchanged } from './read-unchanged.ts';
import type { FileRecorder } from './record-files.ts';
import type { ScannableFile } from './scan-site.ts';
import { recordedRules } from './site-manifest.ts';
import type { OutputVerifier } from './verify-output.ts';

/** Files with the bytes that the last run left. They contain no embeds any more, so the record alone knows them. */
export interface KeptFiles {
  /** What the last manifest has about these files. */
  record: Manifest;
  files: ReadonlyMap<string, ScannableFile>;
}

/** Finds the files that are as the last run left them, such as those of a generator that did not write them again. */
export function findKeptFiles(before: Manifest, files: readonly ScannableFile[]): KeptFiles {
  const known = new Map(before.files.map((file) => [file.name, file]));
  const found = new Map<string, ScannableFile>();
  const recorded: ManifestFile[] = [];
  for (const file of files) {
    const record = known.get(file.name);
    if (record === undefined || hashOfFile(file.file) !== record.hash) continue;
    found.set(file.name, file);
    recorded.push(record);
  }
  return { record: { ...before, ...dropUnusedKinds(before.kinds, recorded) }, files: found };
}

/** Adds the snippets of kept files to those of embeds. What such a file shows may have changed since. */
export function withKeptUses(uses: readonly SnippetUse[], kept: KeptFiles | undefined): SnippetUse[] {
  if (kept === undefined) return [...uses];
  const all = new Map(uses.map((use) => [use.request.key, use]));
  for (const { request, ...more } of usesOf(kept.record)) {
    if (more.places.length === 0) continue;
    const use = snippetUse(all, request);
    use.asHtml ||= more.asHtml;
    for (const name of more.places) use.places.push(name);
    // A file is either kept or scanned, so no place of an embed is among these.
    for (const name of more.optionalPlaces ?? []) {
      use.optionalPlaces = (use.optionalPlaces ?? new Set()).add(name);
    }
    for (const name of more.placesWithoutChildren) use.placesWithoutChildren.push(name);
  }
  return [...all.values()];
}

export interface KeepOptions {
  /** In the order in which the recorder has their snippets. */
  uses: readonly SnippetUse[];
  snippets: FetchedSnippets;
  settings: Settings;
  recorder: FileRecorder;
  verifier: OutputVerifier;
  rewrite: RewriteFile;
  /** Called with each file that is not written, and its bytes. */
  onSame(file: ScannableFile, bytes: Buffer): void;
}

// No hash. A file that an interrupted run has not written is composed by the next one, even if only the rules for HTML
// have changed.
const outdated = 'outdated';

/** Records kept files, and writes those that show another content than the service publishes now. */
export function keepFiles({ record, files }: KeptFiles, options: KeepOptions): void {
  const { uses, snippets, settings, recorder, verifier, rewrite, onSame } = options;
  const moved = requestsOf(record).map((request) => recorder.indexOf(request));
  const contents = uses.map(({ request }) => snippets.get(request.key));
  const hashes = contents.map((snippet) => snippet && hashOf(snippet.content));
  const ids = uses.map(({ request }) => request.id);
  const renewal: Renewal = { ids, snippets: contents, hashes, rules: recordedRules(settings) };
  const mayDiffer = hasOtherRules(record, settings);
  for (const page of record.files) {
    const file = files.get(page.name);
    if (file === undefined) continue;
    const places = placesIn(record, page).map((place) => ({ ...place, snippet: moved[place.snippet] ?? -1 }));
    const before = readUnchanged(file, page.hash);
    const isCurrent = !mayDiffer && places.every(({ snippet, content }) => content === hashes[snippet]);
    const now = { ...page, places };
    const { after, next } = isCurrent ? { after: before, next: now } : renew(before, now, renewal);
    verifier.check(file, after);
    if (after.equals(before)) {
      onSame(file, before);
      recorder.keep(page.name, next);
    } else {
      rewrite(file, before, () => ({ file: after }));
      const old = { ...now, places: places.map((place) => ({ ...place, content: outdated })) };
      recorder.keep(page.name, old, next);
    }
  }
}

/** Whether the same content may be other HTML now. A function that sanitizes may have changed without a trace. */
function hasOtherRules({ rules }: Manifest, settings: Settings): boolean {
  const now = recordedRules(settings);
  return now.sanitizes || !isDeepStrictEqual(rules, now);
}
