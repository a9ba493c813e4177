import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseEnv } from 'node:util';
import { readKeyFile } from './key-file.ts';
import { astroPackage } from './versions.ts';

/** The names of the environment variables that this package reads. */
export const environmentVariables = {
  apiKey: 'SNIPPETS_API_KEY',
  apiKeyFile: 'SNIPPETS_API_KEY_FILE',
  renderBaseUrl: 'SNIPPETS_RENDER_BASE_URL',
  retrieveBaseUrl: 'SNIPPETS_RETRIEVE_BASE_URL',
  webhookSecret: 'SNIPPETS_WEBHOOK_SECRET',
} as const;

const variablePrefix = 'SNIPPETS_';

/** Environment variables, by their names. */
export type Environment = Record<string, string | undefined>;

/** Which `.env` files are read: the mode and the folder. */
export interface EnvironmentFiles {
  /** Vite's mode, such as `production`. With `staging`, `.env.staging` is read, too. */
  mode: string;
  /** The folder of the files; `false` for none. */
  directory: string | false;
}

/**
 * Reads our variables from the environment and the `.env` files, as Vite does: the environment wins. The API key may
 * be in a file that a variable names. A key file that does not exist is like no key, as some builds need none.
 *
 * @param process `cwd` is the folder to which the path of a key file is relative if `.env` files have no folder.
 * @throws UserError if the key file exists and cannot be read.
 */
export async function readEnvironment(
  { directory, mode }: EnvironmentFiles,
  { env, cwd }: { env: Environment; cwd: string },
): Promise<Environment> {
  const fromFiles = directory === false ? {} : await readEnvFiles(directory, mode);
  const ours = Object.entries({ ...fromFiles, ...env }).filter(([name]) => name.startsWith(variablePrefix));
  const environment: Environment = Object.fromEntries(ours);

  const keyFile = environment[environmentVariables.apiKeyFile];
  if (!keyFile || environment[environmentVariables.apiKey]) return environment;
  const key = await readKeyFile(resolve(cwd, directory || '', keyFile), environmentVariables.apiKeyFile);
  return key === undefined ? environment : { ...environment, [environmentVariables.apiKey]: key };
}

/** Reads the `.env` files of a mode with the project's own Vite, or with Node where there is no Astro. */
async function readEnvFiles(directory: string, mode: string): Promise<Environment> {
  const names = ['.env', '.env.local', `.env.${mode}`, `.env.${mode}.local`];
  const files = names.map((name) => join(directory, name)).filter(existsSync);

  // Loading Vite is slow, so it is only loaded if there are `.env` files.
  const astro = files.length > 0 && astroPackage(directory);
  if (!astro) return Object.assign({}, ...files.map((file) => parseEnv(readFileSync(file, 'utf8'))));
  // Vite is looked up from Astro, since this package might find another version of it.
  const vite = createRequire(astro).resolve('vite');
  const { loadEnv }: typeof import('vite') = await import(pathToFileURL(vite).href);
  return loadEnv(mode, directory, variablePrefix);
}
