import { resolve } from 'node:path';
import type { Manifest } from '../../record/manifest.ts';
import { type Environment, environmentVariables, readEnvironment } from '../../settings/environment.ts';
import { parseOptions } from '../../settings/parse-options.ts';
import { resolveSettings, type Settings } from '../../settings/settings.ts';
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
  const { mode = 'production', directory = '' } = manifest?.environment ?? {};
  const folder = directory !== false && resolve(cli.cwd, directory);
  return readEnvironment({ mode, directory: folder }, cli);
}
