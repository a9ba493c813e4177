import { findChanges } from '../publish/changes.ts';
import { refresh as refreshPages } from '../publish/refresh.ts';
import { exitCodes } from './exit-codes.ts';
import { print } from './print.ts';
import { connect, openProject, type ProjectOptions } from './project.ts';

/** `astro-snippets refresh`: brings the built site up to date without building it again. */
export async function refresh(
  project: ProjectOptions,
  options: { dryRun?: boolean; skipModified?: boolean },
): Promise<void> {
  const { file, manifest } = await openProject(project);
  const client = await connect(project);
  try {
    const { contents } = await findChanges(manifest, client);
    const { written, modified } = await refreshPages(file, manifest, contents, options);
    for (const name of written) print(`${name} ${options.dryRun ? 'would be written' : 'is up to date'}`);
    for (const name of modified) print(`${name} was changed after the build`);
    if (written.length + modified.length === 0) print('Nothing has changed.');
    if (modified.length > 0) {
      print(
        options.skipModified
          ? 'Build the site to bring those up to date too.'
          : 'Nothing was written. Build the site, or go on with the other pages: --skip-modified.',
      );
    }
    process.exitCode = modified.length > 0 ? exitCodes.needsBuild : exitCodes.ok;
  } finally {
    await client.close();
  }
}
