import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseEnv } from 'node:util';
import type { ResolvedConfig } from 'vite';
import { userError } from '../failures/errors.ts';
import { keySearch } from '../text/known-keys.ts';
import { astroPackage } from './astro-version.ts';

export const environmentVariables = {
  apiKey: 'SNIPPETS_API_KEY',
  apiKeyFile: 'SNIPPETS_API_KEY_FILE',
  renderBaseUrl: 'SNIPPETS_RENDER_BASE_URL',
  retrieveBaseUrl: 'SNIPPETS_RETRIEVE_BASE_URL',
  webhookSecret: 'SNIPPETS_WEBHOOK_SECRET',
} as const;

export type Environment = Record<string, string | undefined>;

/** Where `.env` files are read, and for which mode of Vite; `false` for none. */
export interface EnvironmentFiles {
  mode: string;
  directory: string | false;
}

const variablePrefix = 'SNIPPETS_';

/** Reads the variables as Vite does. Fails with an AstroError if browsers can read one that contains the key. */
export const environmentPlugin = (onRead: (environment: Environment, files: EnvironmentFiles) => void) => ({
  name: 'astro-snippets:environment',
  async configResolved({ mode, envDir: directory, env }: ResolvedConfig): Promise<void> {
    const files = { mode, directory };
    const environment = await readEnvironment(files, { env: process.env, cwd: process.cwd() });
    onRead(environment, files);
    const key = environment[environmentVariables.apiKey];
    if (!key) return;
    // Public, whether a page uses it today or not.
    const search = keySearch(key);
    const names = Object.keys(env).filter((name) => search.isIn(String(env[name])));
    if (names.length === 0) return;
    const what = `${names.join(', ')} ${names.length === 1 ? 'contains' : 'contain'} the API key`;
    throw userError('exposed-key', `${what}, and every visitor could read it.`);
  },
});

/** A key file that does not exist is like no key: some builds need none. @throws AstroError if it cannot be read. */
export async function readEnvironment(
  { directory, mode }: EnvironmentFiles,
  { env, cwd }: { env: Environment; cwd: string },
): Promise<Environment> {
  const read = directory === false ? {} : await readEnvFiles(directory, mode);
  const all = Object.entries({ ...read, ...env }).filter(([name]) => name.startsWith(variablePrefix));
  const environment: Environment = Object.fromEntries(all);
  const file = environment[environmentVariables.apiKeyFile];
  if (!file || environment[environmentVariables.apiKey]) return environment;
  try {
    // Editors end a file with a line break.
    const key = readFileSync(resolve(cwd, directory || '', file), 'utf8').replace(/\r?\n$/, '');
    return { ...environment, [environmentVariables.apiKey]: key };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return environment;
    throw userError(
      'unreadable-key-file',
      `The file named by ${environmentVariables.apiKeyFile} could not be read: ${code}.`,
    );
  }
}

async function readEnvFiles(directory: string, mode: string): Promise<Environment> {
  const names = ['.env', '.env.local', `.env.${mode}`, `.env.${mode}.local`];
  const files = names.map((name) => join(directory, name)).filter(existsSync);
  const astro = files.length > 0 && astroPackage(directory);
  if (!astro) {
    return Object.assign({}, ...files.map((file) => parseEnv(readFileSync(file, 'utf8'))));
  }
  // Astro's own: ours could be another version. Loading it takes as long as a short command.
  const vite = createRequire(astro).resolve('vite');
  const { loadEnv }: typeof import('vite') = await import(pathToFileURL(vite).href);
  return loadEnv(mode, directory, variablePrefix);
}
