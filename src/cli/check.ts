import { count } from '../client/format.ts';
import { namesOf } from '../record/manifest.ts';
import { exitCodes, nameOf, print } from './output.ts';
import { impatience, openChanges, type ProjectOptions } from './project.ts';

/** `astro-snippets check`: which snippets have changed since the build, and where the site shows them. */
export async function check(project: ProjectOptions, { json = false }): Promise<void> {
  const { manifest, changed } = await openChanges(project, { limits: impatience });
  if (json) {
    const shown = changed.map(({ request: { id, params }, ...places }) => ({ id, params, ...places }));
    print(JSON.stringify({ changed: shown }, null, 2));
  } else if (manifest.snippets.length === 0) {
    print('The site shows no snippets.');
  } else if (changed.length === 0) {
    const { length } = manifest.snippets;
    print(
      `Nothing has changed: ${count(length, 'snippet')} ${length === 1 ? 'matches' : 'match'} the last build.`,
    );
  } else {
    for (const { request, ...places } of changed)
      print(`${nameOf(request)} has changed\n    ${namesOf(places).join('\n    ')}`);
  }
  process.exitCode = changed.length === 0 ? exitCodes.ok : exitCodes.changed;
}
