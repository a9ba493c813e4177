import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CliContext } from './context.ts';
import { type RunCommandOptions, runCommand } from './run-command.ts';
import type { ShownFile } from './shown-files.ts';

/** The files of the output that a command is about; `undefined` if that is not known, so that it may be any. */
export type ChangedFiles = readonly ShownFile[] | undefined;

/** The variables that name the lists of files and of their URLs. Documented: commands read them. */
const listVariables = {
  files: 'ASTRO_SNIPPETS_CHANGED_FILES',
  urls: 'ASTRO_SNIPPETS_CHANGED_URLS',
} as const;

/** All that one or the other contains, each file once. */
export function mergeChanges(one: ChangedFiles, other: ChangedFiles): ChangedFiles {
  if (one === undefined || other === undefined) return undefined;
  return [...new Map([...one, ...other].map((file) => [file.file, file])).values()];
}

/**
 * Runs a shell command that finds the changed files and their URLs in two lists. If they are not known, the variables are
 * not set, also if this process has inherited them from such a command.
 *
 * @returns its exit status, as {@link runCommand} does.
 * @throws if the lists cannot be written. The command was not run then.
 */
export async function runWithLists(
  context: CliContext,
  command: string,
  changed: ChangedFiles,
  { stdout }: Pick<RunCommandOptions, 'stdout'> = {},
): Promise<number> {
  const unset = { [listVariables.files]: undefined, [listVariables.urls]: undefined };
  if (changed === undefined || !changed.every(isOneLine)) {
    return runCommand(context, command, { stdout, environment: unset });
  }
  const folder = await mkdtemp(join(tmpdir(), 'astro-snippets-'));
  try {
    const lists = { files: join(folder, 'files.txt'), urls: join(folder, 'urls.txt') };
    await writeFile(lists.files, changed.map(({ file }) => `${file}\n`).join(''));
    await writeFile(lists.urls, changed.map(({ url }) => `${url}\n`).join(''));
    const environment = { [listVariables.files]: lists.files, [listVariables.urls]: lists.urls };
    return await runCommand(context, command, { stdout, environment });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A name with a line break would be taken for two. */
function isOneLine({ file }: ShownFile): boolean {
  return !/[\r\n]/.test(file);
}
