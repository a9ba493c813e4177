import { count } from '../client/format.ts';
import { namesOf } from '../record/manifest.ts';
import { unfinishedOf } from './after-command.ts';
import { exitCodes, nameOf, print } from './output.ts';
import { openChanges, type ProjectOptions } from './project.ts';

/** `astro-snippets check`: which snippets have changed since the build, and where the site shows them. */
export async function check(project: ProjectOptions, { json = false }): Promise<void> {
  const { file, manifest, changed } = await openChanges(project);
  const unfinished = unfinishedOf({ file, manifest });
  if (json) {
    const shown = changed.map(({ request: { id, params }, ...places }) => ({ id, params, ...places }));
    print(JSON.stringify({ changed: shown, unfinished: unfinished.map(({ name }) => name) }, null, 2));
  } else if (manifest.snippets.length === 0) {
    print('The site shows no snippets.');
  } else if (changed.length + unfinished.length === 0) {
    const { length } = manifest.snippets;
    print(
      `Nothing has changed: ${count(length, 'snippet')} ${length === 1 ? 'matches' : 'match'} the last build.`,
    );
  } else {
    for (const { request, ...places } of changed)
      print(`${nameOf(request)} has changed\n    ${namesOf(places).join('\n    ')}`);
    for (const { name, reason } of unfinished) print(`${name} ${reason}`);
  }
  process.exitCode = changed.length + unfinished.length === 0 ? exitCodes.ok : exitCodes.changed;
}
