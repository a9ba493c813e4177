import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
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
import { environmentVariables } from '../../settings/environment.ts';
import type { SnippetsOptions } from '../../settings/options.ts';
import { parseOptions } from '../../settings/parse-options.ts';
import { resolveSettings } from '../../settings/settings.ts';
import { keySearch } from '../../text/known-keys.ts';
import { requireFolder } from '../project/open-project.ts';
import { readVariables } from '../project/project-settings.ts';
import type { Cli } from '../terminal/cli.ts';

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
  const first = 'Run the generator first, and pass the folder that it writes.';
  await requireFolder(cwd, folder, 'The folder', first);
  const file = manifest === undefined ? manifestOf(cwd, to) : resolve(cwd, manifest);
  const record = lastRecordFile(file);
  // Only Astro says how it writes URLs.
  if ((await readManifest(record)).manifest?.urls) {
    throw userError(
      'unusable-output',
      `${shownPath(cwd, to)} is the output of an Astro build, which has inlined its snippets.`,
      `Update it with \`astro-snippets refresh\`. If another generator writes it now, delete ${shownPath(cwd, record)} first.`,
    );
  }
  const environment = await readVariables(cli);
  const options = await readOptions(cwd, flags, environment[environmentVariables.apiKey]);
  // Only Astro knows base path, assets and styles. Inlined files could not lose edit links.
  for (const name of ['links', 'images', 'classes', 'editLinks'] as const) {
    if (!options[name]) continue;
    throw userError('invalid-options', `The option \`${name}\` works in Astro sites only.`, 'Remove it.');
  }
  // Without Astro, policies are in pages alone.
  const site = { cacheDirectory: cacheDirsOf(cwd)[0], hasPolicy: options.csp === 'hash' };
  const settings = resolveSettings(options, environment, site);
  if (manifest === undefined) {
    // First: the lock and the cache stay after a failure.
    await mkdir(dirname(file), { recursive: true });
    await writeFile(join(dirname(file), '.gitignore'), '*\n', { flag: 'wx' }).catch(() => {});
  }
  const logger = { info: terminal.print, warn: terminal.printError };
  await inlineFolder({ cwd, from, to, manifest: file, settings, logger });
}

/** Flags win over the config file. */
async function readOptions(cwd: string, flags: SnippetsOptions, apiKey = '') {
  const names = ['js', 'mjs', 'ts'].map((extension) => `snippets.config.${extension}`);
  const name = names.find((one) => existsSync(join(cwd, one)));
  if (!name) return parseOptions(flags);
  const file = join(cwd, name);
  if (apiKey !== '' && keySearch(apiKey).isIn(await readFile(file))) {
    const hint = `Remove it there. ${errorTable['missing-key'].hint}`;
    throw userError('invalid-options', `${name} contains the API key.`, hint);
  }
  const { default: options } = await import(pathToFileURL(file).href).catch((error: Error) => {
    const hint = 'Fix the file. It has the options as its default export.';
    throw userError('invalid-options', `${name} could not be loaded: ${error.message}`, hint);
  });
  // The schema refuses others.
  const isObject = typeof options === 'object' && options !== null;
  return parseOptions(isObject ? { ...options, ...flags } : options, `The options in ${name} are invalid`);
}
