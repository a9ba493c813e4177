import { resolve } from 'node:path';
import { shownPath } from '../../files/paths.ts';
import type { Manifest } from '../../record/manifest.ts';
import { findEnvFile } from '../../settings/env-files.ts';
import { type Environment, type EnvironmentFiles, readEnvironment } from '../../settings/environment.ts';
import { parseOptions } from '../../settings/parse-options.ts';
import { resolveSettings, type Settings } from '../../settings/settings.ts';
import { environmentVariables } from '../../settings/variable-names.ts';
import type { Cli } from '../terminal/terminal.ts';

/**
 * Reads the settings of the last build from its record, as the command line does not load the Astro config.
 * Without a record, all options have their defaults. The environment is read anew: the key is not on record,
 * and a base URL that was no option may have changed, as a service may move.
 */
export async function readSettings(cli: Cli, manifest: Manifest | undefined): Promise<Settings> {
  const environment = await readVariables(cli, manifest);
  if (!manifest) return resolveSettings(parseOptions({}), environment);

  const { urlOptions, renderBaseUrl, retrieveBaseUrl, ca, ...recordedSettings } = manifest.settings;
  const baseUrlOptions = Object.fromEntries(urlOptions.map((name) => [name, manifest.settings[name]]));
  const settings = resolveSettings(parseOptions({ ...baseUrlOptions, ca }), {
    [environmentVariables.renderBaseUrl]: renderBaseUrl,
    [environmentVariables.retrieveBaseUrl]: retrieveBaseUrl,
    ...environment,
  });

  const { sanitizes, editLinks, images, ...recordedRules } = manifest.rules;
  // A build applies these rules to what `sanitize` returns. That function is not on record, and the rules
  // could fail for content that is not sanitized, so they are left out.
  return { ...settings, ...recordedSettings, ...(sanitizes ? {} : recordedRules) };
}

/** Reads the environment as the last build did. Without a record, as a build without `--mode` would. */
export function readVariables(cli: Cli, manifest?: Manifest): Promise<Environment> {
  return readEnvironment(environmentFilesOf(cli, manifest), cli);
}

function environmentFilesOf({ cwd }: Cli, manifest?: Manifest): EnvironmentFiles {
  const { mode = 'production', directory = '' } = manifest?.environment ?? {};
  return { mode, directory: directory !== false && resolve(cwd, directory) };
}

/** Says where an API key that is set comes from. Hides the path of a key file, which may be the key by mistake. */
export function describeKey(cli: Cli, manifest?: Manifest): string {
  const { apiKey, apiKeyFile } = environmentVariables;
  if (cli.env[apiKey]) return `${apiKey} is set in the environment`;
  const { mode, directory } = environmentFilesOf(cli, manifest);
  const file = directory === false ? undefined : findEnvFile(directory, mode, apiKey);
  // A variable that the environment sets to nothing hides that of the file.
  const isFromFile = file !== undefined && cli.env[apiKey] === undefined;
  return isFromFile
    ? `${apiKey} is set in ${shownPath(cli.cwd, file)}`
    : `The API key is in the file that ${apiKeyFile} names`;
}
