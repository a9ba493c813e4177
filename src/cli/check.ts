import { count } from '../client/format.ts';
import { exitCodes, nameOf, print, printJson } from './output.ts';
import { openChanges, type ProjectOptions } from './project.ts';

/** `astro-snippets check`: which snippets have changed since the build, and on which pages. */
export async function check(project: ProjectOptions, { json = false }): Promise<void> {
  const { manifest, changed } = await openChanges(project);
  if (json) {
    const shown = changed.map(({ request: { id, params }, pages }) => ({ id, params, pages }));
    printJson({ changed: shown });
  } else if (changed.length === 0) {
    const { length } = manifest.snippets;
    print(
      `Nothing has changed: ${count(length, 'snippet')} ${length === 1 ? 'matches' : 'match'} the last build.`,
    );
  } else {
    for (const { request, pages } of changed)
      print(`${nameOf(request)} has changed\n    ${pages.join('\n    ')}`);
  }
  process.exitCode = changed.length === 0 ? exitCodes.ok : exitCodes.changed;
}
