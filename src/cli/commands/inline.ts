import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { errorTable } from '../../failures/error-table.ts';
import { userError } from '../../failures/errors.ts';
import { shownPath } from '../../files/paths.ts';
import { inlineFolder } from '../../folder/inline-folder.ts';
import { lastRecordFile } from '../../folder/last-run.ts';
import { readManifest } from '../../record/manifest-file.ts';
import { cacheDirsOf, manifestOf } from '../../record/record-paths.ts';
import type { SnippetsOptions } from '../../settings/options.ts';
import { parseOptions } from '../../settings/parse-options.ts';
import { resolveSettings, type Settings } from '../../settings/settings.ts';
import { environmentVariables } from '../../settings/variable-names.ts';
import { keySearch } from '../../text/known-keys.ts';
import { requireFolder } from '../project/open-project.ts';
import { readVariables } from '../project/project-settings.ts';
import type { Cli } from '../terminal/terminal.ts';

/**
 * The command `inline`: inlines snippets into the files that a generator other than Astro has written.
 *
 * @param command reports an invalid flag as wrong usage
 */
export async function inline(
  cli: Cli,
  folder: string,
  flags: SnippetsOptions,
  command: Command,
): Promise<void> {
  try {
    parseOptions(flags, 'The options are invalid');
  } catch (error) {
    command.error((error as Error).message);
  }

  const { cwd, terminal, manifest, output } = cli;
  const from = resolve(cwd, folder);
  const to = resolve(cwd, output ?? folder);
  const hint = 'Run the generator first, and pass the folder that it writes.';
  await requireFolder(cwd, folder, 'The folder', hint);
  const recordFile = manifest === undefined ? manifestOf(cwd, to) : resolve(cwd, manifest);
  await refuseAstroOutput(cwd, to, recordFile);

  const settings = await readInlineSettings(cli, flags);
  if (manifest === undefined) await ignoreInGit(dirname(recordFile));
  const logger = { info: terminal.print, warn: terminal.printError };
  await inlineFolder({ cwd, from, to, manifestFile: recordFile, settings, logger });
}

async function refuseAstroOutput(cwd: string, folder: string, recordFile: string) {
  const lastRecord = lastRecordFile(recordFile);
  const { manifest } = await readManifest(lastRecord);
  // A record that says how the site writes URLs is that of an Astro build, which `refresh` updates.
  if (!manifest?.urls) return;
  throw userError(
    'unusable-output',
    `${shownPath(cwd, folder)} is the output of an Astro build, which has inlined its snippets.`,
    `Update it with \`astro-snippets refresh\`. If another generator writes it now, delete ${shownPath(cwd, lastRecord)} first.`,
  );
}

/**
 * Options that fail the command. `links`, `images` and `classes` need the base path, assets and style sheets
 * that only Astro knows. Links of `editLinks` would be in files from which a later run could not remove them.
 */
const astroOptions = ['links', 'images', 'classes', 'editLinks'] as const;

async function readInlineSettings(cli: Cli, flags: SnippetsOptions): Promise<Settings> {
  const environment = await readVariables(cli);
  const options = await readOptions(cli.cwd, flags, environment[environmentVariables.apiKey]);
  for (const name of astroOptions) {
    if (!options[name]) continue;
    throw userError('invalid-options', `The option \`${name}\` works in Astro sites only.`, 'Remove it.');
  }
  // Astro says whether it writes a Content Security Policy. Here, the option says whether the pages have one.
  const site = { cacheDirectory: cacheDirsOf(cli.cwd)[0], hasPolicy: options.csp === 'hash' };
  return resolveSettings(options, environment, site);
}

/** Reads the options of the config file, if there is one. Flags win over them. */
async function readOptions(cwd: string, flags: SnippetsOptions, apiKey = '') {
  const name = await findConfig(cwd);
  if (!name) return parseOptions(flags);

  const file = join(cwd, name);
  const refuse = ({ message }: Error) => {
    const hint = 'Fix the file. It has the options as its default export.';
    throw userError('invalid-options', `${name} could not be loaded: ${message}`, hint);
  };
  if (apiKey !== '' && keySearch(apiKey).isIn(await readFile(file).catch(refuse))) {
    const hint = `Remove it there. ${errorTable['missing-key'].hint}`;
    throw userError('invalid-options', `${name} contains the API key.`, hint);
  }
  const { default: options } = await import(pathToFileURL(file).href).catch(refuse);
  // `parseOptions` throws for an export that is no object.
  const isObject = typeof options === 'object' && options !== null;
  return parseOptions(isObject ? { ...options, ...flags } : options, `The options in ${name} are invalid`);
}

/** Formats that people use for configs, but from which no functions could be read. */
const dataFormat = /\.(?:jsonc?|json5|ya?ml|toml)$/;

/**
 * Finds the config file; `undefined` if there is none. A folder is listed for it: of a file that is asked for by name,
 * one with another extension, or a link that leads nowhere, would count as absent, and its options as not set.
 */
async function findConfig(cwd: string): Promise<string | undefined> {
  const names = (await readdir(cwd)).filter((name) => /^snippets\.config\.\w+$/.test(name));
  const dataFile = names.find((name) => dataFormat.test(name));
  if (dataFile) {
    const hint = 'Write them as the default export of snippets.config.js.';
    throw userError('invalid-options', `${dataFile} is no module, so its options cannot be read.`, hint);
  }
  const configs = names.filter((name) => /\.[cm]?[jt]s$/.test(name)).sort();
  if (configs.length > 1) {
    throw userError('invalid-options', `There are several configs: ${configs.join(', ')}.`, 'Keep one.');
  }
  return configs[0];
}

/** Has Git ignore the folder of the record: even a run that fails leaves a lock and cache in that folder. */
async function ignoreInGit(folder: string) {
  await mkdir(folder, { recursive: true });
  // The flag `wx` makes this fail for a `.gitignore` that exists, which stays as it is.
  await writeFile(join(folder, '.gitignore'), '*\n', { flag: 'wx' }).catch(() => {});
}
