import { nameOf, print } from './print.ts';
import { openProject, type ProjectOptions } from './project.ts';

/** `astro-snippets list`: which snippets are on which pages. */
export async function list(project: ProjectOptions, { json = false }): Promise<void> {
  const {
    manifest: { builtAt, pages, snippets },
  } = await openProject(project);
  const listed = snippets.map((snippet, index) => ({
    ...snippet,
    pages: pages
      .filter(({ embeds }) => embeds.some((embed) => embed.snippet === index))
      .map(({ name }) => name),
  }));
  if (json) return print(JSON.stringify({ builtAt, snippets: listed }, null, 2));
  for (const snippet of listed) print(`${nameOf(snippet)}\n    ${snippet.pages.join('\n    ')}`);
}
