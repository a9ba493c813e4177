import { resolve } from 'node:path';
import { writeAtomically } from '../../write-atomically.ts';
import { print } from '../output.ts';
import { openProject, type ProjectOptions } from '../project.ts';
import { renderReport } from './render-report.ts';

/** `astro-snippets report`: one HTML page about the snippets of the site. */
export async function report(project: ProjectOptions, { to }: { to: string }): Promise<void> {
  const { manifest } = await openProject(project);
  const file = resolve(to);
  await writeAtomically(file, renderReport(manifest));
  print(file);
}
