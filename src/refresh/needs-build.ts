import { listNames } from '../failures/places.ts';
import { fileKind } from '../files/file-kind.ts';
import type { InlinedPage } from '../inlining/inline-page.ts';
import type { RecordedFile } from '../record/manifest.ts';
import type { SiteToRefresh } from './site-to-refresh.ts';

/**
 * Why only a build can update a page, or an entry of a collection: a refresh then ends with exit status 3.
 * Each reason is the end of a sentence that begins with the name.
 *
 * Other reasons for that status: there is no usable record or pack (the pages as generated;
 * `cli/project/open-project.ts`, `record/pack.ts`); the output is not what the record says
 * (`output/compare-output.ts`); a copy and its page do not hold the same (`output/compressed.ts`); a file
 * was made from a page, and no command renews it (`output/derived/`); an earlier `--after` has not succeeded
 * (`cli/deploy/deployments.ts`); a page was changed during the refresh (`write-refresh.ts`).
 */
export const needsBuild = {
  /** The record does not say which pages render an entry: only Astro knows. */
  collectionEntry: 'shows a changed snippet, and which pages use this entry is not known',
  /** A refresh makes pages as the build did, and would undo what another program has changed since. */
  modified: 'was changed after the build',
  /** The step that changes the page, such as a minifier, runs in a build only. */
  changedAfterInlining: (integrations: string): string =>
    `is changed in each build after snippets are inlined (by ${integrations})`,
  /** The step that removes the page may have put its content elsewhere. */
  removedAfterInlining: (integrations: string): string =>
    `is removed in each build after snippets are inlined (by ${integrations}), so where its content is now is not known`,
  /** The option `sanitize` is a function, which no record can have. */
  sanitized: 'shows content that only a build sanitizes',
  /** New classes need new style sheets, with new names, so that every page would change. */
  otherClasses: (classes: readonly string[]): string =>
    `needs style sheets that only a build makes: snippets now have other classes (${listNames(classes, 5)})`,
  /** The page shows a snippet without an embed in its generated version, so a refresh cannot replace it. */
  leftover: 'was changed after a snippet on it was inlined',
  /** A script or style has changed, and so its hash in the Content Security Policy. */
  headerPolicy: 'has its policy in headers, which only a build writes',
} as const;

/** Why only a build can update any page of a site; `undefined` if a refresh may. */
export function reasonForSite(site: SiteToRefresh): string | undefined {
  if (site.manifest.rules.sanitizes) return needsBuild.sanitized;
  const classes = findOtherClasses(site);
  return classes.length > 0 ? needsBuild.otherClasses(classes) : undefined;
}

/** The classes that would change the style sheets: new ones, lost ones, and old ones that have no CSS. */
function findOtherClasses({ manifest, currentContents }: SiteToRefresh): string[] {
  if (!manifest.classes) return [];
  const oldClasses = new Set(manifest.snippets.flatMap(({ content }) => content?.classes ?? []));
  const newClasses = new Set(currentContents.flatMap((content) => content?.classes ?? []));
  const oldWithStyles = oldClasses.intersection(new Set(manifest.classes));
  return [...newClasses.difference(oldWithStyles), ...oldClasses.difference(newClasses)];
}

/**
 * Why only a build can update a page, as far as its current snippets decide; `undefined` if a refresh may.
 *
 * @param inlinedPage the page with its current snippets
 * @param changed the indexes of the snippets that have changed on the page
 */
export function reasonForPage(
  page: RecordedFile,
  inlinedPage: InlinedPage,
  changed: readonly number[],
  site: SiteToRefresh,
): string | undefined {
  // `shows` begins with the snippets of the embeds. The rest are leftovers: shown without an embed.
  const leftovers = page.shows.slice(inlinedPage.embeds.length);
  if (leftovers.some((index) => changed.includes(index))) return needsBuild.leftover;
  return needsOtherHeaders(page, inlinedPage, changed, site) ? needsBuild.headerPolicy : undefined;
}

function needsOtherHeaders(
  { name, shows }: RecordedFile,
  { embeds, hasMetaPolicy }: InlinedPage,
  changed: readonly number[],
  { manifest: { rules, snippets }, currentContents }: SiteToRefresh,
): boolean {
  if (rules.policy !== 'hash' || hasMetaPolicy || fileKind(name) !== 'html') return false;
  return shows.some((index, position) => {
    const isHtml = embeds[position]?.format.as === 'html';
    if (!isHtml || !changed.includes(index)) return false;
    const oldSources = snippets[index]?.content?.sources ?? [];
    return String(currentContents[index]?.sources ?? []) !== String(oldSources);
  });
}
