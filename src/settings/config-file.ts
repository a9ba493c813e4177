import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { keyDetector } from '../client/api-key.ts';
import { userError } from '../failures/errors.ts';
import { type ParsedOptions, parseOptions } from './options.ts';

const names = ['snippets.config.js', 'snippets.config.mjs', 'snippets.config.ts'] as const;

/**
 * Reads the options of a project without Astro. Flags win over its config file, which need not exist.
 *
 * @throws AstroError for options that are invalid or unknown, for a config file that fails, and for one that contains
 * the API key.
 */
export async function readOptions(
  directory: string,
  flags: object,
  apiKey: string | undefined,
): Promise<ParsedOptions> {
  const name = names.find((one) => existsSync(join(directory, one)));
  if (name === undefined) return parseOptions(flags, 'The options are invalid');
  const file = join(directory, name);
  if (apiKey !== undefined && keyDetector(apiKey)(await readFile(file))) {
    throw userError(
      'invalid-options',
      `${name} contains the API key.`,
      'Remove it there, and set SNIPPETS_API_KEY in the environment, or in a .env file that is not committed.',
    );
  }
  const { default: options } = await import(pathToFileURL(file).href).catch((error: Error) => {
    const hint = 'Fix the file. It has the options as its default export.';
    throw userError('invalid-options', `${name} could not be loaded: ${error.message}`, hint);
  });
  // What is no object is left to the schema, which says so.
  const isObject = typeof options === 'object' && options !== null;
  return parseOptions(isObject ? { ...options, ...flags } : options, `The options in ${name} are invalid`);
}
