import { shownOn } from '../record/changes.ts';
import type { ListOutput } from './cli-output.ts';
import type { CliContext } from './context.ts';
import { exitCodes, nameOf, placeNames, shownContent, shownPlaces, type Unversioned } from './output.ts';
import { openProject, type ProjectOptions } from './project.ts';

/** `astro-snippets list`: which snippets are on which pages and in which collections. */
export async function list(context: CliContext, project: ProjectOptions): Promise<Unversioned<ListOutput>> {
  const { manifest } = await openProject(context, project);
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

export function listText({ snippets }: Unversioned<ListOutput>): string {
  if (snippets.length === 0) return 'The site shows no snippets.';
  const lines = snippets.map((snippet) => {
    const missing = snippet.missing ? ' does not exist: children are shown' : '';
    return `${nameOf(snippet)}${missing}\n    ${placeNames(snippet).join('\n    ')}`;
  });
  return lines.join('\n');
}
