import { listNames } from '../failures/places.ts';
import { fileKind } from '../files/file-kind.ts';
import type { InlinedPage } from '../inlining/inline-page.ts';
import type { RecordedFile } from '../record/manifest.ts';
import type { SiteToRefresh } from './site-to-refresh.ts';

/**
 * Why only a build can update a page, or an entry of a collection: a refresh then ends with exit status 3.
 * Each reason is the end of a sentence that begins with the name.
 *
 * Other reasons for that status: there is no usable record or pack (`cli/project/open-project.ts`,
 * `record/pack.ts`); the output is not what the record says (`output/compare-output.ts`); a copy holds
 * something else than its page (`output/compressed.ts`); a file was made from a page, and no command renews it
 * (`output/derived/`); an earlier `--after` has not succeeded (`cli/deploy/deployments.ts`); a page was changed
 * during the refresh (`write-refresh.ts`).
 */
export const needsBuild = {
  /** Astro knows which pages render an entry, and the record does not. */
  collectionEntry: 'shows a changed snippet, and which pages use this entry is not known',
  /** A refresh makes pages as the build did, and would undo what another program has changed since. */
  modified: 'was changed after the build',
  /** The step that changes the page, such as a minifier, runs in a build only. */
  changedAfterInlining: (integrations: string): string =>
    `is changed in each build after snippets are inlined (by ${integrations})`,
  /** The option `sanitize` is a function, which no record can have. */
  sanitized: 'shows content that only a build sanitizes',
  /** New classes need new style sheets, whose names, which every page contains, change with them. */
  otherClasses: (classes: readonly string[]): string =>
    `needs style sheets that only a build makes: snippets now have other classes (${listNames(classes, 5)})`,
  /** The page as it was generated has no embed of the snippet: a step after inlining has changed the page. */
  leftover: 'was changed after a snippet on it was inlined',
  /** The hash of a script or style on the page has changed. */
  headerPolicy: 'has its policy in headers, which only a build writes',
} as const;

/** Why only a build can update the pages of a site, all of them. */
export function reasonForSite(site: SiteToRefresh): string | undefined {
  if (site.manifest.rules.sanitizes) return needsBuild.sanitized;
  const classes = findOtherClasses(site);
  return classes.length > 0 ? needsBuild.otherClasses(classes) : undefined;
}

/** The classes for which a build would make other style sheets: new ones, lost ones, and old ones without CSS. */
function findOtherClasses({ manifest, currentContents }: SiteToRefresh): string[] {
  if (!manifest.classes) return [];
  const oldClasses = new Set(manifest.snippets.flatMap(({ content }) => content?.classes ?? []));
  const newClasses = new Set(currentContents.flatMap((content) => content?.classes ?? []));
  const oldWithStyles = oldClasses.intersection(new Set(manifest.classes));
  return [...newClasses.difference(oldWithStyles), ...oldClasses.difference(newClasses)];
}

/**
 * Why only a build can update a page.
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
  // The snippets of the embeds come first in `shows`. More than these are leftovers of an earlier run.
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
