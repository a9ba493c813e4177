import type { ChangedSnippet } from '../../record/changes.ts';
import { type ContentDiff, collectDiffs } from '../../record/content-diff.ts';
import type { Manifest } from '../../record/manifest.ts';
import { type PageToBuild, planRefresh } from '../../record/refresh.ts';
import { openProgress } from '../progress.ts';
import { impatience, openChanges, type ProjectOptions } from '../project.ts';

/** What was published since the site was built or refreshed. */
export interface PublishedChanges {
  /** When the service was asked. */
  at: string;
  changed: PublishedChange[];
  /** Where the text that changes is not known, and why. */
  notCompared: PageToBuild[];
}

export interface PublishedChange extends ChangedSnippet {
  /** One for each way in which its text changes. */
  diffs: ContentDiff[];
}

/**
 * Asks the service what has changed, and compares the text with that of the pages. Writes no page.
 *
 * @throws AstroError with one report if a snippet could not be fetched.
 */
export async function findPublished(
  project: ProjectOptions,
  { json }: { json: boolean },
): Promise<{ manifest: Manifest; published: PublishedChanges }> {
  const progress = openProgress({ json });
  const at = new Date().toISOString();
  // As for writing: where the site has its own copies of images, the text that pages show names those.
  const changes = await openChanges(project, { limits: impatience, progress, writes: true });
  const { file, manifest, snippets } = changes;
  const collected = collectDiffs(manifest);
  const plan = await planRefresh(file, manifest, snippets, { progress, onPage: collected.add });
  const diffs = Map.groupBy(collected.list(), ({ request }) => request.key);
  const changed = changes.changed.map(
    (change): PublishedChange => ({
      ...change,
      // As text, `<b>new</b>` and `<i>new</i>` are alike.
      diffs: (diffs.get(change.request.key) ?? []).filter(({ before, after }) => before !== after),
    }),
  );
  return { manifest, published: { at, changed, notCompared: plan.toBuild } };
}
