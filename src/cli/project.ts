import { join, resolve } from 'node:path';
import { loadEnv } from 'vite';
import type { SnippetClient } from '../client/snippet-client.ts';
import { createClient } from '../create-client.ts';
import { parseOptions, resolveSettings, variables } from '../options.ts';
import { type Manifest, manifestFile, outputFrom, readManifest } from '../publish/manifest.ts';
import { settle } from '../publish/refresh.ts';
import { userError } from '../report/user-error.ts';

/** The site that a command works on: what its last build wrote down, and how the service is reached. */
export interface Project {
  file: string;
  manifest: Manifest;
  connect(): SnippetClient;
}

export interface ProjectOptions {
  /** The path of the manifest, where it is not in Astro's default cache directory. */
  manifest?: string;
  /** The built site, where it was moved since. */
  output?: string;
}

/**
 * Opens the project in the current folder.
 *
 * @throws AstroError when the site was not built yet, or by another version.
 */
export async function openProject({ manifest: given, output }: ProjectOptions): Promise<Project> {
  const root = process.cwd();
  const file = given === undefined ? manifestFile(join(root, 'node_modules/.astro')) : resolve(given);
  const found = await readManifest(file);
  if (found === undefined) {
    throw userError(
      `There is no record of a build at ${file}.`,
      'Build the site first, in this folder and with this version of astro-snippets. Where Astro has another cacheDir, pass --manifest.',
    );
  }
  const moved = output === undefined ? found : { ...found, output: outputFrom(file, resolve(output)) };
  const manifest = await settle(file, moved);
  return {
    file,
    manifest,
    connect() {
      // The Astro config is not read here: what it says of the service is in the manifest. The environment wins,
      // so that a service that has moved can be reached without a build; and only it has the key.
      const { renderBaseUrl, retrieveBaseUrl, ...options } = manifest.settings;
      const settings = resolveSettings(parseOptions(options), {
        [variables.renderBaseUrl]: renderBaseUrl,
        [variables.retrieveBaseUrl]: retrieveBaseUrl,
        ...loadEnv('production', root, 'SNIPPETS_'),
      });
      return createClient(settings, 'The site has snippets');
    },
  };
}
