import { pagesOf, requestsOf } from '../record/manifest.ts';
import { nameOf, print, printJson } from './output.ts';
import { openProject, type ProjectOptions } from './project.ts';

/** `astro-snippets list`: which snippets are on which pages. */
export async function list(project: ProjectOptions, { json = false }): Promise<void> {
  const { manifest } = await openProject(project);
  const shownOn = pagesOf(manifest).map((pages) => [...pages]);
  if (json) {
    const snippets = manifest.snippets.map((snippet, index) => ({ ...snippet, pages: shownOn[index] ?? [] }));
    return printJson({ builtAt: manifest.builtAt, snippets });
  }
  for (const [index, request] of requestsOf(manifest).entries()) {
    print(`${nameOf(request)}\n    ${shownOn[index]?.join('\n    ')}`);
  }
}
