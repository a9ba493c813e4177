import { namesOf, shownOn } from '../record/changes.ts';
import type { Manifest } from '../record/manifest.ts';
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
  if (manifest.snippets.length === 0) terminal.print('The site shows no snippets.');
  for (const { request, recorded, ...shown } of shownOn(manifest)) {
    const missing = recorded.missing ? ' does not exist: children are shown' : '';
    terminal.print(`${nameOf(request)}${missing}\n    ${namesOf(shown).join('\n    ')}`);
  }
}

function listOutput(manifest: Manifest): Omit<ListOutput, 'version'> {
  const { builtAt, refreshedAt } = manifest;
  return {
    command: 'list',
    exitStatus: exitCodes.ok,
    builtAt,
    refreshedAt,
    snippets: shownOn(manifest).map(({ recorded: { id, params, missing, content }, ...shown }) => ({
      id,
      params,
      missing,
      content: content && shownContent(content),
      ...shownPlaces(manifest, shown),
    })),
  };
}
