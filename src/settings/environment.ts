import { resolve } from 'node:path';
import { readEnvFiles } from './env-files.ts';
import { readKeyFile } from './key-file.ts';
import { environmentVariables } from './variable-names.ts';

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
 * @param process `cwd` is the folder to which the paths of files are relative if `.env` files have no folder.
 * @returns the variables, with the path of SNIPPETS_CA_FILE made absolute.
 * @throws UserError if the key file exists and cannot be read, or a `.env` file is in UTF-16.
 */
export async function readEnvironment(
  { directory, mode }: EnvironmentFiles,
  { env, cwd }: { env: Environment; cwd: string },
): Promise<Environment> {
  const fromFiles = directory === false ? {} : await readEnvFiles(directory, mode, variablePrefix);
  const ours = Object.entries({ ...fromFiles, ...env }).filter(([name]) => name.startsWith(variablePrefix));
  const environment: Environment = Object.fromEntries(ours);
  const { apiKey, apiKeyFile, caFile } = environmentVariables;

  const { [caFile]: authorities, [apiKeyFile]: keyFile } = environment;
  if (authorities) environment[caFile] = resolve(cwd, directory || '', authorities);
  if (!keyFile || environment[apiKey]) return environment;
  return { ...environment, [apiKey]: await readKeyFile(resolve(cwd, directory || '', keyFile), apiKeyFile) };
}
