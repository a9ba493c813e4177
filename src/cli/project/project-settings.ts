import { resolve } from 'node:path';
import type { Manifest } from '../../record/manifest.ts';
import { type Environment, environmentVariables, readEnvironment } from '../../settings/environment.ts';
import { parseOptions } from '../../settings/parse-options.ts';
import { resolveSettings, type Settings } from '../../settings/settings.ts';
import type { CliHost } from '../terminal/terminal.ts';

/** The variables and the folder of the process that a command runs in. */
type HostEnvironment = Pick<CliHost, 'cwd' | 'env'>;

/**
 * Reads the settings of the last build from its record, as the command line does not load the Astro config.
 * The environment is read anew: the key is not on record, and a base URL that was no option may have changed,
 * as a service may move.
 *
 * @param manifest the record; without one, all options have their defaults
 */
export async function readSettings(host: HostEnvironment, manifest: Manifest | undefined): Promise<Settings> {
  const environment = await readVariables(host, manifest);
  if (!manifest) return resolveSettings(parseOptions({}), environment);

  const { urlOptions, renderBaseUrl, retrieveBaseUrl, ...recordedSettings } = manifest.settings;
  const baseUrlOptions = Object.fromEntries(urlOptions.map((name) => [name, manifest.settings[name]]));
  const settings = resolveSettings(parseOptions(baseUrlOptions), {
    [environmentVariables.renderBaseUrl]: renderBaseUrl,
    [environmentVariables.retrieveBaseUrl]: retrieveBaseUrl,
    ...environment,
  });

  const { sanitizes, editLinks, images, ...recordedRules } = manifest.rules;
  // A build with `sanitize`, a function that is not on record, applies the other rules to what that function
  // returns. They could fail for the content as it is sent.
  return { ...settings, ...recordedSettings, ...(sanitizes ? {} : recordedRules) };
}

/** Reads the environment as the last build did. Without a record, as a build without `--mode` would. */
export function readVariables(host: HostEnvironment, manifest?: Manifest): Promise<Environment> {
  const { mode = 'production', directory = '' } = manifest?.environment ?? {};
  const folder = directory !== false && resolve(host.cwd, directory);
  return readEnvironment({ mode, directory: folder }, host);
}
