import { exitCodes } from './exit-codes.ts';
import { nameOf, print } from './print.ts';
import { askForChanges, type ProjectOptions } from './project.ts';

/** `astro-snippets check`: which snippets have changed since the build, and where they are. */
export async function check(project: ProjectOptions, { json = false }): Promise<void> {
  const { manifest, changed } = await askForChanges(project);
  if (json) print(JSON.stringify({ changed }, null, 2));
  else if (changed.length === 0)
    print(`Nothing has changed: ${manifest.snippets.length} snippets are as built.`);
  else
    for (const snippet of changed)
      print(`${nameOf(snippet)} has changed\n    ${snippet.pages.join('\n    ')}`);
  process.exitCode = changed.length === 0 ? exitCodes.ok : exitCodes.changed;
}
