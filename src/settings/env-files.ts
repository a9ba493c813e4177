import { readFileSync, type Stats, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseEnv } from 'node:util';
import { userError } from '../failures/errors.ts';
import { reasonOf } from '../text/clean-text.ts';
import { decodeText } from './decode-text.ts';
import { astroPackage } from './versions.ts';

/** The byte order mark with which editors for Windows begin UTF-8. */
const mark = '\ufeff';

/** A `.env` file that exists. */
interface EnvFile {
  path: string;
  /** The text, without a byte order mark; `undefined` for a pipe, which gives its bytes only once. */
  text?: string;
  hasMark?: boolean;
}

/**
 * Reads the `.env` files of a mode with the project's own Vite, or with Node where there is no Astro.
 *
 * @param prefix the start of the names of variables to read.
 * @throws UserError for a file in UTF-16, of which nothing would be found.
 */
export async function readEnvFiles(
  directory: string,
  mode: string,
  prefix: string,
): Promise<Record<string, string | undefined>> {
  const files = openEnvFiles(directory, mode);

  // Loading Vite is slow, so it is only loaded if there are `.env` files.
  const astro = files.length > 0 && astroPackage(directory);
  if (!astro) {
    const texts = files.map(({ path, text }) => text ?? readFileSync(path, 'utf8'));
    return Object.assign({}, ...texts.map((text) => parseEnv(text)));
  }
  // Vite is looked up from Astro, since this package might find another version of it.
  const vite = createRequire(astro).resolve('vite');
  const { loadEnv }: typeof import('vite') = await import(pathToFileURL(vite).href);
  return withoutMarks(loadEnv(mode, directory, [prefix, mark]), files);
}

/** The path of the `.env` file of a mode whose value of a variable wins; `undefined` if none has it. */
export const findEnvFile = (directory: string, mode: string, variable: string): string | undefined =>
  openEnvFiles(directory, mode).findLast(({ text = '' }) => variable in parseEnv(text))?.path;

/** Opens the `.env` files of a mode. Of two that have a variable, the later one wins. */
function openEnvFiles(directory: string, mode: string): EnvFile[] {
  const names = ['.env', '.env.local', `.env.${mode}`, `.env.${mode}.local`];
  return names.flatMap((name) => openEnvFile(directory, name) ?? []);
}

function openEnvFile(directory: string, name: string): EnvFile | undefined {
  const path = join(directory, name);
  const stats: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  if (!stats || stats.isDirectory()) return undefined;
  if (!stats.isFile()) return { path };
  const bytes = readFileSync(path);
  try {
    return { path, text: decodeText(bytes), hasMark: bytes.toString('utf8', 0, 3) === mark };
  } catch (error) {
    const hint = 'Save it as UTF-8. In PowerShell, add `-Encoding utf8` to the command that writes it.';
    throw userError('invalid-options', `The file ${name} ${reasonOf(error)}.`, hint);
  }
}

/** Vite takes a byte order mark for a part of the first name. Such a variable gets its own name, if its file wins. */
function withoutMarks(loaded: Record<string, string>, files: readonly EnvFile[]): Record<string, string> {
  const variables = Object.entries(loaded).filter(([name]) => !name.startsWith(mark));
  for (const [markedName, value] of Object.entries(loaded)) {
    if (!markedName.startsWith(mark)) continue;
    const name = markedName.replace(/^\ufeff(?:export\s+)?/, '');
    // The last file that has the variable wins, and in a file the last line.
    const { text = '', hasMark = false } = files.findLast((file) => name in parseEnv(file.text ?? '')) ?? {};
    if (hasMark && !(name in parseEnv(mark + text))) variables.push([name, value]);
  }
  return Object.fromEntries(variables);
}
