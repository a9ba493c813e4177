import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseEnv } from 'node:util';
import type { ResolvedConfig } from 'vite';
import { keySearch } from '../client/api-key.ts';
import { userError } from '../failures/errors.ts';
import { astroPackage } from './astro-version.ts';

export const variables = {
  apiKey: 'SNIPPETS_API_KEY',
  /** The path of a file that contains the key, to keep the key out of the environment. */
  apiKeyFile: 'SNIPPETS_API_KEY_FILE',
  renderBaseUrl: 'SNIPPETS_RENDER_BASE_URL',
  retrieveBaseUrl: 'SNIPPETS_RETRIEVE_BASE_URL',
  /** What calls of `watch --listen` are signed with. */
  webhookSecret: 'SNIPPETS_WEBHOOK_SECRET',
} as const;

export type Environment = Record<string, string | undefined>;

/** Where variables are, besides those that are set. */
export interface EnvironmentFiles {
  /** Vite's mode: its `.env` files are read, and those that are for every mode. */
  mode: string;
  /** The folder of the files; `false` if there are none. */
  directory: string | false;
}

const prefix = 'SNIPPETS_';

/**
 * Reads the variables as Vite does. A plugin, as only Vite's resolved config knows the mode and the folder of `.env` files.
 *
 * @throws AstroError if a variable that browsers can read contains the key.
 */
export function environmentPlugin(onRead: (environment: Environment, files: EnvironmentFiles) => void) {
  return {
    name: 'astro-snippets:environment',
    async configResolved({ mode, envDir, env }: ResolvedConfig): Promise<void> {
      const files: EnvironmentFiles = { mode, directory: envDir };
      const environment = await readEnvironment(files, { env: process.env, cwd: process.cwd() });
      onRead(environment, files);
      const { [variables.apiKey]: key } = environment;
      // Everything that Astro sends to browsers is public, whether a page uses it today or not.
      const containsKey = key ? keySearch(key).isIn : () => false;
      const names = Object.keys(env).filter((name) => containsKey(String(env[name])));
      if (names.length === 0) return;
      const verb = names.length === 1 ? 'contains' : 'contain';
      const message = `${names.join(', ')} ${verb} the API key, and every visitor could read it.`;
      throw userError('exposed-key', message);
    },
  };
}

/** A key file that does not exist is no key: a build that needs none has no secrets. @throws if one cannot be read. */
export async function readEnvironment(
  files: EnvironmentFiles,
  { env, cwd }: { env: Environment; cwd: string },
): Promise<Environment> {
  const { directory } = files;
  const read = directory === false ? {} : await readFiles(directory, files.mode);
  const all = Object.entries({ ...read, ...env }).filter(([name]) => name.startsWith(prefix));
  const environment: Environment = Object.fromEntries(all);
  const file = environment[variables.apiKeyFile];
  if (!file || environment[variables.apiKey]) return environment;
  try {
    // Editors end a file with a line break, which is not part of the key.
    const key = (await readFile(resolve(cwd, directory || '', file), 'utf8')).replace(/\r?\n$/, '');
    return { ...environment, [variables.apiKey]: key };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return environment;
    const message = `The file named by ${variables.apiKeyFile} could not be read: ${code}.`;
    throw userError('unreadable-key-file', message);
  }
}

async function readFiles(directory: string, mode: string): Promise<Environment> {
  const names = ['.env', '.env.local', `.env.${mode}`, `.env.${mode}.local`];
  const files = names.map((name) => join(directory, name)).filter((file) => existsSync(file));
  const astro = astroPackage(directory);
  if (astro === undefined || files.length === 0) {
    return Object.assign({}, ...files.map((file) => parseEnv(readFileSync(file, 'utf8'))));
  }
  // Astro's own: as a dependency of ours, it could be another version. Loading it takes as long as a short command.
  const vite = createRequire(astro).resolve('vite');
  const { loadEnv }: typeof import('vite') = await import(pathToFileURL(vite).href);
  return loadEnv(mode, directory, prefix);
}
