import { readdir, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Plugin } from 'vite';
import { keyDetector } from './client/api-key.ts';
import { variables } from './options.ts';
import { userError } from './report/user-error.ts';

const prefix = 'SNIPPETS_';

/** Variables by name. */
export type Environment = Record<string, string | undefined>;

/**
 * Reads the SNIPPETS_ variables as Vite would: `process.env` first, then the project's `.env` files for the
 * mode of this run. A plugin, because only Vite's resolved configuration knows that mode and where the files
 * are. Nothing is put into the configuration or the module graph.
 *
 * @throws AstroError when a variable that browsers will see holds the key.
 */
export function environmentPlugin(onRead: (environment: Environment) => void): Plugin {
  return {
    name: 'astro-snippets:environment',
    async configResolved({ mode, envDir, env }) {
      const environment = await readEnvironment(mode, envDir);
      onRead(environment);
      refuseExposedKey(environment[variables.apiKey], env);
    },
  };
}

/** @param directory of the `.env` files; where there is none, all is in the environment. */
export async function readEnvironment(mode: string, directory: string | false): Promise<Environment> {
  const environment = await readVariables(mode, directory);
  const file = environment[variables.apiKeyFile];
  if (!file || environment[variables.apiKey]) return environment;
  try {
    // A file of one line ends with a line break, which is no part of the key.
    const key = (await readFile(resolve(directory || '', file), 'utf8')).replace(/\r?\n$/, '');
    return { ...environment, [variables.apiKey]: key };
  } catch (error) {
    throw userError(
      `The file that ${variables.apiKeyFile} names cannot be read: ${(error as NodeJS.ErrnoException).code}.`,
      `Put the API key into that file, or set ${variables.apiKey} itself.`,
    );
  }
}

async function readVariables(mode: string, directory: string | false): Promise<Environment> {
  const names = directory === false ? [] : await readdir(directory).catch(() => []);
  if (!names.some((name) => name.startsWith('.env'))) {
    return Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith(prefix)));
  }
  // Only here, because to load Vite takes as long as a short command does.
  const { loadEnv } = await import('vite');
  return loadEnv(mode, directory || '', prefix);
}

/** What Astro gives to browsers is no place for a secret, whether a page uses it today or not. */
function refuseExposedKey(key: string | undefined, exposed: Record<string, unknown>): void {
  if (!key) return;
  const holdsKey = keyDetector(key);
  const names = Object.keys(exposed).filter((name) => holdsKey(String(exposed[name])));
  if (names.length === 0) return;
  throw userError(
    `${names.join(', ')} ${names.length === 1 ? 'holds' : 'hold'} the API key, and every visitor of the site could read it there.`,
    `Variables that begin with PUBLIC_ are given to browsers. Set ${variables.apiKey} alone, and replace the key if such a site was published.`,
  );
}
