import { listNames } from '../failures/places.ts';
import { fileKind } from '../files/file-kind.ts';
import type { InlinedPage } from '../inlining/inline-page.ts';
import type { ManifestFile } from '../record/manifest.ts';
import type { RefreshedSite } from './refreshed-site.ts';

/** A style sheet's name, which every page contains, changes with its classes. */
export function reasonForStyles({ manifest, now }: RefreshedSite): string | undefined {
  if (!manifest.classes) return undefined;
  const before = new Set(manifest.snippets.flatMap(({ content }) => content?.classes ?? []));
  const after = new Set(now.flatMap((content) => content?.classes ?? []));
  const made = before.intersection(new Set(manifest.classes));
  const changed = [...after.difference(made), ...before.difference(after)];
  if (changed.length === 0) return undefined;
  return `needs style sheets that only a build makes: snippets now have other classes (${listNames(changed, 5)})`;
}

export function reasonForPage(
  page: ManifestFile,
  made: InlinedPage,
  changed: number[],
  site: RefreshedSite,
):
  | 'was changed after a snippet on it was inlined'
  | 'has its policy in headers, which only a build writes'
  | undefined {
  const { name, shows } = page;
  const { embeds, hasPolicy } = made;
  const { rules, snippets } = site.manifest;
  if (shows.slice(embeds.length).some((index) => changed.includes(index))) {
    return 'was changed after a snippet on it was inlined';
  }
  if (rules.policy !== 'hash' || hasPolicy || fileKind(name) !== 'html') return undefined;
  const needsOtherSources = (index: number, at: number) =>
    embeds[at]?.format.as === 'html' &&
    changed.includes(index) &&
    String(site.now[index]?.sources ?? []) !== String(snippets[index]?.content?.sources ?? []);
  return shows.some(needsOtherSources) ? 'has its policy in headers, which only a build writes' : undefined;
}
