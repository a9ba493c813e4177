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
  apiKeyFile: 'SNIPPETS_API_KEY_FILE',
  renderBaseUrl: 'SNIPPETS_RENDER_BASE_URL',
  retrieveBaseUrl: 'SNIPPETS_RETRIEVE_BASE_URL',
  webhookSecret: 'SNIPPETS_WEBHOOK_SECRET',
} as const;

export type Environment = Record<string, string | undefined>;

/** Which `.env` files are read: those of Vite's mode and of every mode, in a folder; `false` without one. */
export interface EnvironmentFiles {
  mode: string;
  directory: string | false;
}

const prefix = 'SNIPPETS_';

/**
 * Reads the variables as Vite does. Only its resolved config knows the mode and the folder of `.env` files. Fails with an
 * AstroError if a variable that browsers can read contains the key.
 */
export function environmentPlugin(onRead: (environment: Environment, files: EnvironmentFiles) => void) {
  return {
    name: 'astro-snippets:environment',
    async configResolved({ mode, envDir: directory, env }: ResolvedConfig): Promise<void> {
      const files = { mode, directory };
      const environment = await readEnvironment(files, { env: process.env, cwd: process.cwd() });
      onRead(environment, files);
      const { [variables.apiKey]: key } = environment;
      if (!key) return;
      // Public, whether a page uses it today or not.
      const { isIn } = keySearch(key);
      const names = Object.keys(env).filter((name) => isIn(String(env[name])));
      if (names.length === 0) return;
      const verb = names.length === 1 ? 'contains' : 'contain';
      const message = `${names.join(', ')} ${verb} the API key, and every visitor could read it.`;
      throw userError('exposed-key', message);
    },
  };
}

/** A key file that does not exist is like no key: some builds need none. @throws AstroError if it cannot be read. */
export async function readEnvironment(
  { directory, mode }: EnvironmentFiles,
  { env, cwd }: { env: Environment; cwd: string },
): Promise<Environment> {
  const read = directory === false ? {} : await readFiles(directory, mode);
  const all = Object.entries({ ...read, ...env }).filter(([name]) => name.startsWith(prefix));
  const environment: Environment = Object.fromEntries(all);
  const file = environment[variables.apiKeyFile];
  if (!file || environment[variables.apiKey]) return environment;
  try {
    // Editors end a file with a line break.
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
  const astro = files.length === 0 ? undefined : astroPackage(directory);
  if (astro === undefined) {
    return Object.assign({}, ...files.map((file) => parseEnv(readFileSync(file, 'utf8'))));
  }
  // Astro's own: a dependency of ours could be another version. Loading it takes as long as a short command.
  const vite = createRequire(astro).resolve('vite');
  const { loadEnv }: typeof import('vite') = await import(pathToFileURL(vite).href);
  return loadEnv(mode, directory, prefix);
}
