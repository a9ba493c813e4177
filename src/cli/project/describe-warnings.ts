import { listPlaces } from '../../failures/places.ts';
import type { SnippetWarning } from '../../failures/snippet-warning.ts';
import { warningTable } from '../../failures/warning-table.ts';
import type { Manifest } from '../../record/manifest.ts';
import type { FlawFacts, Warning } from '../json-output.ts';
import { toShownFile } from './describe-snippets.ts';

/** What of a record tells where snippets are, and how they are named. */
type NamedSite = Pick<Manifest, 'urls' | 'names' | 'files'>;

/**
 * Warnings as documents of `--json` have them.
 *
 * @param onFiles the files whose warnings are wanted; those of all files and collections, if absent
 */
export function toWarnings(
  site: NamedSite,
  warnings: readonly SnippetWarning[],
  onFiles?: ReadonlySet<string>,
): Warning[] {
  const wanted = onFiles ?? new Set(site.files.map(({ name }) => name));
  return warnings.flatMap(({ request: { id, params }, places, ...flaw }): Warning[] => {
    const files = places.filter((place) => wanted.has(place));
    if (onFiles && files.length === 0) return [];
    return [{ id, params, name: site.names?.[id], ...toFlawFacts(site, flaw, files) }];
  });
}

/**
 * The warnings on record about what the site shows.
 *
 * @param onFiles the files whose warnings are wanted; those of all files, if absent
 */
export function recordedWarnings(manifest: Manifest, onFiles?: ReadonlySet<string>): Warning[] {
  const shownOn = new Map<number, string[]>();
  for (const { name, shows } of manifest.files) {
    if (onFiles && !onFiles.has(name)) continue;
    for (const index of new Set(shows)) shownOn.set(index, [...(shownOn.get(index) ?? []), name]);
  }
  return manifest.snippets.flatMap(({ id, params, flaws = [] }, index) =>
    flaws.flatMap((flaw): Warning[] => {
      const shown = shownOn.get(index) ?? [];
      const files = flaw.files ? shown.filter((name) => flaw.files?.includes(name)) : shown;
      if (onFiles && files.length === 0) return [];
      return [{ id, params, name: manifest.names?.[id], ...toFlawFacts(manifest, flaw, files) }];
    }),
  );
}

/** A line for each warning, with its pages and its code. Equal ones, of a snippet with other params, are one. */
export function describeSnippetWarnings(warnings: readonly Warning[]): string[] {
  const groups = Map.groupBy(warnings, ({ code, message }) => `${code} ${message}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    const files = new Set(group.flatMap(({ pages }) => pages.map(({ file }) => file)));
    const places = files.size > 0 ? ` It is on ${listPlaces([...files])}.` : '';
    return first ? `${first.message}${places} [${first.code}]` : [];
  });
}

/** A flaw of a snippet as documents of `--json` have it. @param files those that show the snippet */
export function toFlawFacts(
  site: Pick<Manifest, 'urls'>,
  { code, message, line }: Pick<SnippetWarning, 'code' | 'message' | 'line'>,
  files: readonly string[],
): FlawFacts {
  const pages = files.map((file) => toShownFile(site, file));
  return { code, message, hint: warningTable[code].hint, line, pages };
}
