import { resolve } from 'node:path';
import type { Manifest } from '../../record/manifest.ts';
import { writeAtomically } from '../../write-atomically.ts';
import type { ReportOutput } from '../cli-output.ts';
import { exitCodes, print, printJson } from '../output.ts';
import { openProject, type ProjectOptions } from '../project.ts';
import { changedSnippet, shownContent, shownFile, shownPlaces } from '../shown-files.ts';
import type { PublishedChanges } from './published-changes.ts';
import { type ReportExtras, renderReport, reportRows, totalsOf } from './render-report.ts';

export interface ReportOptions {
  to: string;
  json?: boolean;
  /** Whether the service is asked what has changed. */
  diff?: boolean;
  /** The ids of all snippets that there are, as far as the user knows: each once, ascending. */
  knownIds?: readonly number[] | undefined;
}

/**
 * `astro-snippets report`: one HTML page about the snippets of the site, or what it would be made from.
 *
 * @throws AstroError without a usable record of a build; with `diff`, with one report if a snippet could not be fetched.
 * No page was written then.
 */
export async function report(
  project: ProjectOptions,
  { to, json = false, diff = false, knownIds }: ReportOptions,
): Promise<void> {
  const { manifest, published } = await readSite(project, { json, diff });
  const extras = { published, unusedIds: knownIds && unusedIds(knownIds, manifest) };
  if (json) return printJson(reportOutput(manifest, extras));
  const file = resolve(to);
  await writeAtomically(file, renderReport(manifest, extras));
  print(file);
}

async function readSite(
  project: ProjectOptions,
  { json, diff }: { json: boolean; diff: boolean },
): Promise<{ manifest: Manifest; published?: PublishedChanges }> {
  if (!diff) return openProject(project);
  const { findPublished } = await import('./published-changes.ts');
  return findPublished(project, { json });
}

function unusedIds(known: readonly number[], { snippets }: Manifest): number[] {
  const shown = new Set(snippets.map(({ id }) => id));
  return known.filter((id) => !shown.has(id));
}

function reportOutput(
  manifest: Manifest,
  { published, unusedIds }: ReportExtras,
): Omit<ReportOutput, 'version'> {
  const { builtAt, refreshedAt, before } = manifest;
  const rows = reportRows(manifest);
  return {
    command: 'report',
    exitStatus: exitCodes.ok,
    builtAt,
    refreshedAt,
    comparedWith: before?.at,
    totals: totalsOf(manifest, rows),
    snippets: rows.map(({ request: { id, params }, change, content, isMissing, shown }) => ({
      id,
      params,
      change,
      missing: isMissing ? true : undefined,
      content: content && shownContent(content),
      ...shownPlaces(manifest, shown),
    })),
    unusedIds: unusedIds && [...unusedIds],
    published: published && publishedOutput(manifest, published),
  };
}

function publishedOutput(
  manifest: Manifest,
  { at, changed, notCompared }: PublishedChanges,
): ReportOutput['published'] {
  return {
    at,
    changed: changed.map(({ diffs, ...change }) => ({
      ...changedSnippet(manifest, change),
      diffs: diffs.map(({ pages, patch }) => ({
        pages: pages.map((name) => shownFile(manifest, name)),
        patch,
      })),
    })),
    notCompared,
  };
}
