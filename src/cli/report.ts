import { resolve } from 'node:path';
import { renderReport } from '../site-report/render-report.ts';
import { writeAtomically } from '../write-atomically.ts';
import { print } from './print.ts';
import { openProject, type ProjectOptions } from './project.ts';

/** `astro-snippets report`: one page that says what the site embeds. */
export async function report(project: ProjectOptions, { to }: { to: string }): Promise<void> {
  const { manifest } = await openProject(project);
  const file = resolve(to);
  await writeAtomically(file, renderReport(manifest));
  print(file);
}
