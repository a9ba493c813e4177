import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { ShownSnippet } from '../src/cli/json-output.ts';
import { absoluteLinks } from '../src/content/links.ts';
import type { Manifest } from '../src/record/manifest.ts';
import { readManifest } from '../src/record/manifest-file.ts';
import type { ShownPlaces, ShownWarning, SiteFacts } from './service/publisher.ts';
import { pathOfPage } from './service/website/places.ts';

/** Where a built site is. */
export interface BuiltSite {
  siteUrl: string;
  /** The folder that is served. */
  served: string;
  /** The file with the record of the build. */
  record: string;
}

/** What the website has to know of a site to check a draft. */
export async function factsOf({ siteUrl, served, record }: BuiltSite): Promise<SiteFacts | undefined> {
  const { manifest } = await readManifest(record);
  if (manifest === undefined) return undefined;
  const files = await readdir(served, { recursive: true, withFileTypes: true });
  const names = files
    .filter((file) => file.isFile())
    .map((file) => relative(served, join(file.parentPath, file.name)));
  const paths = names.map((name) => pathOfPage(name.replaceAll(sep, '/')));
  return {
    url: siteUrl,
    paths: paths.sort(),
    scripts: manifest.rules.scripts,
    optional: optionalIn(manifest),
  };
}

/** By the id of a snippet, the files in which all its embeds are optional. */
export function optionalIn({ files, snippets }: Pick<Manifest, 'files' | 'snippets'>): Map<number, string[]> {
  const found = new Map<number, string[]>();
  for (const { name, shows, optional = [] } of files) {
    const idsOf = (indexes: number[]) => new Set(indexes.map((index) => snippets[index]?.id ?? 0));
    // The same snippet with other params may be required beside it.
    const required = idsOf(shows.filter((index) => !optional.includes(index)));
    for (const id of idsOf(optional).difference(required)) found.set(id, [...(found.get(id) ?? []), name]);
  }
  return found;
}

/**
 * Tells where a site shows a snippet, and with which params.
 *
 * @param snippets the output of `astro-snippets list`, which has one entry for each params.
 */
export function placesOf(snippets: readonly ShownSnippet[], id: number): ShownPlaces {
  const uses = snippets.filter((snippet) => snippet.id === id);
  const pages = uses.flatMap((use) => use.pages.map(({ file }) => file));
  const entries = uses.flatMap((use) =>
    use.collections.map(({ collection, entry }) => `${collection}/${entry}`),
  );
  return {
    pages: [...new Set(pages)].sort(),
    entries: [...new Set(entries)].sort(),
    params: [...new Set(uses.map(({ params = '{}' }) => params))],
    warnings: warningsOf(uses),
  };
}

/** What is wrong with a snippet: the same flaw with other params is one. */
function warningsOf(uses: readonly ShownSnippet[]): ShownWarning[] {
  const warnings = uses.flatMap((use) => use.warnings ?? []);
  const groups = Map.groupBy(warnings, ({ message, line }) => `${line} ${message}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    const pages = new Set(group.flatMap((warning) => warning.pages.map(({ file }) => file)));
    return first ? { line: first.line, message: first.message, hint: first.hint, pages: [...pages] } : [];
  });
}

/** The linked and inline style sheets of a page, as markup that works on any host. */
export function stylesOf(page: string, siteUrl: string): string {
  const styles = page.match(/<style.*?<\/style>|<link\b[^>]*\brel="stylesheet"[^>]*>/gs) ?? [];
  return absoluteLinks(styles.join(''), siteUrl);
}
