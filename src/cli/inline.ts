import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { inlineFolder, lastRecordFile } from '../build/inline-folder.ts';
import { shownPath } from '../build/side-products/page-copies.ts';
import { userError } from '../failures/errors.ts';
import { readManifest } from '../record/manifest.ts';
import { cacheDirOf, manifestOf } from '../record/manifest-file.ts';
import { readOptions } from '../settings/config-file.ts';
import { readEnvironment, variables } from '../settings/environment.ts';
import { type ParsedOptions, parseOptions, type SnippetsOptions } from '../settings/options.ts';
import { resolveSettings } from '../settings/settings.ts';
import type { CliContext } from './context.ts';
import { environmentFilesOf, type ProjectOptions, recordedEnvironment, requireFolder } from './project.ts';

/** The options that are also flags. */
export type InlineFlags = Pick<
  SnippetsOptions,
  | 'renderBaseUrl'
  | 'retrieveBaseUrl'
  | 'concurrency'
  | 'timeout'
  | 'exclude'
  | 'scripts'
  | 'strict'
  | 'staleIfError'
  | 'offline'
>;

/** @param refuse called with what is wrong with the flags. */
export function checkFlags(flags: InlineFlags, refuse: (message: string) => void): void {
  try {
    parseOptions(flags, 'The options are invalid');
  } catch (error) {
    refuse((error as Error).message);
  }
}

/** `astro-snippets inline`: inlines snippets into a folder of files that any generator has written. */
export async function inline(
  context: CliContext,
  { manifest, output }: ProjectOptions,
  folder: string,
  flags: InlineFlags,
): Promise<void> {
  const { cwd: root, terminal } = context;
  const from = resolve(root, folder);
  const to = resolve(root, output ?? folder);
  await requireFolder(
    context,
    folder,
    'The folder',
    'Run the generator first, and pass the folder that it writes.',
  );
  const file = manifest === undefined ? manifestOf(root, to) : resolve(root, manifest);
  await refuseAstroBuild(root, to, lastRecordFile(file));
  const environment = await readEnvironment(environmentFilesOf(context, undefined), context);
  const apiKey = environment[variables.apiKey] || undefined;
  const options = await readOptions({ directory: root, flags, apiKey });
  refuseAstroOptions(options);
  const cacheDirectory = cacheDirOf(root);
  // Without Astro, the only policies are those in the pages themselves.
  const settings = resolveSettings(options, environment, {
    cacheDirectory,
    hasPolicy: options.csp === 'hash',
  });
  // First, since the lock and the cache stay after a failure too.
  if (manifest === undefined) await keepOutOfGit(dirname(file));
  const logger = {
    info: (line: string) => terminal.print(line),
    warn: (line: string) => terminal.printError(line),
  };
  await inlineFolder({
    cwd: root,
    from,
    to,
    manifest: file,
    settings,
    environment: recordedEnvironment(undefined),
    logger,
  });
}

/** @throws AstroError if a build of Astro has inlined the snippets of a folder. */
async function refuseAstroBuild(root: string, folder: string, record: string): Promise<void> {
  const { manifest } = await readManifest(record);
  // Only Astro says how it writes URLs.
  if (manifest?.urls === undefined) return;
  throw userError(
    'unusable-output',
    `${shownPath(root, folder)} is the output of an Astro build, which has inlined its snippets.`,
    `Update it with \`astro-snippets refresh\`. If another generator writes it now, delete ${shownPath(root, record)} first.`,
  );
}

/**
 * @throws AstroError for options about what Astro alone knows, which are the base path, its assets and its style sheets;
 * and for edit links, which a file that an earlier run has inlined could neither get nor lose.
 */
function refuseAstroOptions({ links, images, classes, editLinks }: ParsedOptions): void {
  for (const [name, value] of Object.entries({ links, images, classes, editLinks })) {
    if (!value) continue;
    throw userError('invalid-options', `The option \`${name}\` works in Astro sites only.`, 'Remove it.');
  }
}

async function keepOutOfGit(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, '.gitignore'), '*\n', { flag: 'wx' }).catch(() => {});
}
