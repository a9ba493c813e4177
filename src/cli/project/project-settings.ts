import { resolve } from 'node:path';
import type { Manifest } from '../../record/manifest.ts';
import { type Environment, environmentVariables, readEnvironment } from '../../settings/environment.ts';
import { parseOptions } from '../../settings/parse-options.ts';
import { resolveSettings, type Settings } from '../../settings/settings.ts';
import type { Cli } from '../terminal/cli.ts';

/** Those of the last build. The key comes from the environment, as do base URLs that were not options: a service may move. */
export async function readSettings(cli: Cli, manifest: Manifest | undefined): Promise<Settings> {
  const environment = await readVariables(cli, manifest);
  if (!manifest) return resolveSettings(parseOptions({}), environment);
  const { urlOptions, renderBaseUrl, retrieveBaseUrl, ...recorded } = manifest.settings;
  const urls = Object.fromEntries(urlOptions.map((name) => [name, manifest.settings[name]]));
  const settings = resolveSettings(parseOptions(urls), {
    [environmentVariables.renderBaseUrl]: renderBaseUrl,
    [environmentVariables.retrieveBaseUrl]: retrieveBaseUrl,
    ...environment,
  });
  const { sanitizes, editLinks, images, ...rules } = manifest.rules;
  // `sanitize` cannot be recorded, and the other rules are about sanitized content.
  return { ...settings, ...recorded, ...(sanitizes ? {} : rules) };
}

/** As the last build did, or without one as a build without `--mode` would. */
export function readVariables(cli: Cli, manifest?: Manifest): Promise<Environment> {
  const { mode = 'production', directory = '' } = { ...manifest?.environment };
  const folder = directory !== false && resolve(cli.cwd, directory);
  return readEnvironment({ mode, directory: folder }, cli);
}
