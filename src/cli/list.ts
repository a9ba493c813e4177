import { type Manifest, namesOf, nowhere, requestsOf, shownOn } from '../record/manifest.ts';
import type { ListOutput } from './cli-output.ts';
import type { CliContext } from './context.ts';
import { exitCodes, nameOf } from './output.ts';
import { openProject, type ProjectOptions } from './project.ts';
import { shownContent, shownPlaces } from './shown-files.ts';
import type { Terminal } from './terminal.ts';

/** `astro-snippets list`: which snippets are on which pages and in which collections. */
export async function list(context: CliContext, project: ProjectOptions, { json = false }): Promise<number> {
  const { manifest } = await openProject(context, project);
  if (json) context.terminal.printJson(listOutput(manifest));
  else printList(context.terminal, manifest);
  return exitCodes.ok;
}

function printList(terminal: Terminal, manifest: Manifest): void {
  const shown = shownOn(manifest);
  if (manifest.snippets.length === 0) terminal.print('The site shows no snippets.');
  for (const [index, request] of requestsOf(manifest).entries()) {
    const names = namesOf(shown[index] ?? nowhere);
    const missing = manifest.snippets[index]?.missing ? ' does not exist: children are shown' : '';
    terminal.print(`${nameOf(request)}${missing}\n    ${names.join('\n    ')}`);
  }
}

function listOutput(manifest: Manifest): Omit<ListOutput, 'version'> {
  const { builtAt, refreshedAt, snippets } = manifest;
  const shown = shownOn(manifest);
  return {
    command: 'list',
    exitStatus: exitCodes.ok,
    builtAt,
    refreshedAt,
    snippets: snippets.map(({ id, params, missing, content }, index) => ({
      id,
      params,
      missing,
      content: content && shownContent(content),
      ...shownPlaces(manifest, shown[index] ?? nowhere),
    })),
  };
}
