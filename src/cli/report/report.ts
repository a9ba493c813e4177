import { resolve } from 'node:path';
import { writeAtomically } from '../../files/write.ts';
import type { Manifest } from '../../record/manifest.ts';
import type { ReportOutput } from '../cli-output.ts';
import type { CliContext } from '../context.ts';
import { exitCodes } from '../output.ts';
import { openProject, type ProjectOptions } from '../project.ts';
import { shownContent, shownPlaces } from '../shown-files.ts';
import { renderReport, reportRows, totalsOf } from './render-report.ts';

/**
 * `astro-snippets report`: one HTML page about the snippets of the site, or what it would be made from.
 *
 * @throws AstroError without a usable record of a build.
 */
export async function report(
  context: CliContext,
  project: ProjectOptions,
  { to, json = false }: { to: string; json?: boolean },
): Promise<number> {
  const { cwd, terminal } = context;
  const { manifest } = await openProject(context, project);
  if (json) {
    terminal.printJson(reportOutput(manifest));
  } else {
    const file = resolve(cwd, to);
    await writeAtomically(file, renderReport(manifest));
    terminal.print(file);
  }
  return exitCodes.ok;
}

function reportOutput(manifest: Manifest): Omit<ReportOutput, 'version'> {
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
  };
}
