import type { HtmlRules, PreparedSnippet } from '../html-rules/apply-rules.ts';
import type { SnippetSource } from '../snippet-source.ts';
import { throwFailures } from '../wanted/failures.ts';
import { fetchSnippets } from '../wanted/fetch-snippets.ts';
import type { WantedSnippet } from '../wanted/page-embeds.ts';
import { warnOfContents } from '../wanted/warn-of-contents.ts';
import { hashOf, type Manifest, pagesOf } from './manifest.ts';

/** A snippet whose content is not what the site shows. */
export interface ChangedSnippet {
  id: number;
  params: string | undefined;
  pages: string[];
}

export interface Changes {
  /** The contents of all snippets of the manifest, in its order. */
  contents: PreparedSnippet[];
  changed: ChangedSnippet[];
  /** What is wrong with a changed one and does not keep it from being shown. */
  warnings: string[];
}

/** The rules for HTML, as far as they can be written down. */
function rulesOf({ rules: { sanitizes, scripts, strict, policy } }: Manifest): HtmlRules {
  const none = { sanitize: undefined, scripts: 'allow', strict: false, policy: 'none' } as const;
  // What has not been sanitised is not what the other rules are about, and goes nowhere.
  return sanitizes ? none : { ...none, scripts, strict, policy };
}

/**
 * Asks the service for every snippet of the manifest, and says which have changed and where they are.
 *
 * @throws AstroError with the report of a build, when there is a snippet that cannot be had.
 */
export async function findChanges(
  manifest: Manifest,
  client: SnippetSource,
  signal = new AbortController().signal,
): Promise<Changes> {
  const wanted = wantedBy(manifest);
  const fetched = await fetchSnippets(client, wanted, rulesOf(manifest), signal, () => {});
  throwFailures(fetched, []);
  const contents = wanted.map((snippet) => fetched.contents.get(snippet) as PreparedSnippet);
  const changedOn = pagesThatShowOthers(
    manifest,
    contents.map(({ content }) => hashOf(content)),
  );
  const changed = wanted.flatMap(({ id, params }, index) => {
    const pages = changedOn.get(index);
    return pages === undefined ? [] : [{ id, params, pages: [...pages] }];
  });
  const warnings: string[] = [];
  const shownNow = [...fetched.contents].filter(([{ key }]) => changedOn.has(Number(key)));
  warnOfContents(new Map(shownNow), (warning) => warnings.push(warning));
  return { contents, changed, warnings };
}

function wantedBy(manifest: Manifest): WantedSnippet[] {
  const embeds = manifest.pages.flatMap((page) => page.embeds);
  const asHtml = new Set(embeds.filter(({ asText }) => !asText).map(({ snippet }) => snippet));
  const shownOn = pagesOf(manifest);
  return manifest.snippets.map(({ id, params }, index) => {
    const pages = shownOn[index] ?? new Set();
    return { key: String(index), id, params, pages, asHtml: asHtml.has(index), pagesWithoutFallback: pages };
  });
}

/** By the place of a snippet: the pages where it stands with another content than one of that hash. */
function pagesThatShowOthers({ pages }: Manifest, hashes: readonly string[]): Map<number, Set<string>> {
  const others = new Map<number, Set<string>>();
  for (const { name, embeds } of pages) {
    for (const { snippet, content } of embeds) {
      if (content === hashes[snippet]) continue;
      const on = others.get(snippet) ?? new Set();
      others.set(snippet, on.add(name));
    }
  }
  return others;
}
