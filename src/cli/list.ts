import { pagesOf } from '../publish/manifest.ts';
import { nameOf, print } from './print.ts';
import { openProject, type ProjectOptions } from './project.ts';

/** `astro-snippets list`: which snippets are on which pages. */
export async function list(project: ProjectOptions, { json = false }): Promise<void> {
  const { manifest } = await openProject(project);
  const shownOn = pagesOf(manifest);
  const listed = manifest.snippets.map((snippet, index) => ({
    ...snippet,
    pages: [...(shownOn[index] ?? [])],
  }));
  if (json) return print(JSON.stringify({ builtAt: manifest.builtAt, snippets: listed }, null, 2));
  for (const snippet of listed) print(`${nameOf(snippet)}\n    ${snippet.pages.join('\n    ')}`);
}
