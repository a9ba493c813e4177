import { join, resolve } from 'node:path';
import type { SnippetClient } from '../client/snippet-client.ts';
import { createClient } from '../create-client.ts';
import { readEnvironment } from '../environment.ts';
import { parseOptions, resolveSettings, type Settings, variables } from '../options.ts';
import { type Changes, findChanges } from '../publish/changes.ts';
import { type Manifest, outputFrom, readManifest } from '../publish/manifest.ts';
import { manifestFile } from '../publish/manifest-file.ts';
import { settle } from '../publish/refresh.ts';
import { userError } from '../report/user-error.ts';

export interface ProjectOptions {
  /** The path of the manifest, where it is not in Astro's default cache directory. */
  manifest?: string;
  /** The built site, where it was moved since. */
  output?: string;
}

/** What the last build of the site wrote down, and where. */
export interface Project {
  file: string;
  manifest: Manifest;
}

/**
 * Opens the project in the current folder.
 *
 * @throws AstroError when the site was not built yet, or by another version.
 */
export async function openProject({ manifest: given, output }: ProjectOptions): Promise<Project> {
  const file = fileOf(given);
  const found = await readManifest(file);
  if (found === undefined) {
    throw userError(
      `There is no record of a build at ${file}.`,
      'Build the site first, in this folder and with this version of astro-snippets. Where Astro has another cacheDir, pass --manifest.',
    );
  }
  const moved = output === undefined ? found : { ...found, output: outputFrom(file, resolve(output)) };
  return { file, manifest: await settle(file, moved) };
}

/**
 * What a build of the project in the current folder would go by. The Astro config is not read: what it says of the
 * service is in the manifest, where there is one. The environment wins, so that a service that has moved can be
 * reached without a build; and only it has the key.
 *
 * @throws AstroError for a malformed key or address.
 */
export async function readSettings(options: ProjectOptions): Promise<Settings> {
  return settingsFor(await readManifest(fileOf(options.manifest)));
}

async function settingsFor(manifest: Manifest | undefined): Promise<Settings> {
  const { renderBaseUrl, retrieveBaseUrl, ...more } = manifest?.settings ?? {};
  const { scripts, strict } = manifest?.rules ?? {};
  return resolveSettings(parseOptions({ ...more, scripts, strict }), {
    [variables.renderBaseUrl]: renderBaseUrl,
    [variables.retrieveBaseUrl]: retrieveBaseUrl,
    ...(await readEnvironment('production', process.cwd())),
  });
}

/**
 * Opens the project in the current folder, and asks the service what has changed since it was built.
 *
 * @throws AstroError as {@link openProject}; when the key or the addresses are malformed or not set; and with the
 * report of a build, when there is a snippet that cannot be had.
 */
export async function askForChanges(
  options: ProjectOptions,
  signal?: AbortSignal,
): Promise<Project & Changes> {
  const project = await openProject(options);
  const client = clientOf(await settingsFor(project.manifest));
  try {
    return { ...project, ...(await findChanges(project.manifest, client, signal)) };
  } finally {
    await client.close();
  }
}

/** @throws AstroError when the key or the addresses are not set. */
export function clientOf(settings: Settings): SnippetClient {
  return createClient(settings, 'The service is to be asked');
}

/** The manifest's file, whether there is one or not. */
export function fileOf(given: string | undefined): string {
  return given === undefined ? manifestFile(join(process.cwd(), 'node_modules/.astro')) : resolve(given);
}
