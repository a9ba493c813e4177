import { namesOf, nowhere, requestsOf, shownOn } from '../record/manifest.ts';
import { nameOf, print, printJson } from './output.ts';
import { openProject, type ProjectOptions } from './project.ts';

/** `astro-snippets list`: which snippets are on which pages and in which collections. */
export async function list(project: ProjectOptions, { json = false }): Promise<void> {
  const { manifest } = await openProject(project);
  const shown = shownOn(manifest);
  if (json) {
    const snippets = manifest.snippets.map((snippet, index) => ({ ...snippet, ...shown[index] }));
    return printJson({ builtAt: manifest.builtAt, snippets });
  }
  if (manifest.snippets.length === 0) print('The site shows no snippets.');
  for (const [index, request] of requestsOf(manifest).entries()) {
    const names = namesOf(shown[index] ?? nowhere);
    const missing = manifest.snippets[index]?.missing ? ' does not exist: children are shown' : '';
    print(`${nameOf(request)}${missing}\n    ${names.join('\n    ')}`);
  }
}
