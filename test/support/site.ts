import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { type CliResult, cli } from './cli.ts';
import { type RunningCommand, startProgram } from './command.ts';
import { cleanEnvironment } from './environment.ts';
import { createFolder } from './folder.ts';
import { runInHost } from './hosted-builds.ts';
import { astroCommand, astroVersion, sitesFolder } from './installation.ts';
import type { TestService } from './service.ts';

export interface BuildResult {
  exitCode: number | null;
  /** What the build wrote to standard output and standard error, in order. */
  output: string;
}

export interface Site {
  directory: string;
  write(files: Record<string, string>): Promise<void>;
  /**
   * Runs `astro build` in a process that has run others before, with the environment of its service unless there is
   * another. Fails if a script that a browser loads contains any code of this package or of its dependencies.
   */
  build(environment?: Record<string, string>, ...flags: string[]): Promise<BuildResult>;
  /** The same for a build that has to succeed. Returns what it wrote. */
  builds(environment?: Record<string, string>, ...flags: string[]): Promise<string>;
  /** Runs `astro sync` in the same way. */
  sync(environment?: Record<string, string>): Promise<BuildResult>;
  /** Runs `astro-snippets` in this process, with the environment of its service. */
  run(...arguments_: string[]): Promise<CliResult>;
  /** Starts `astro` with any command in its own process, as a user would, and returns that process. */
  start(arguments_: string[], environment?: Record<string, string>): RunningCommand;
  /** A file of the output, as text. */
  read(name: string): Promise<string>;
  /** All files of the output, or of another folder of the site, as text. */
  texts(folder?: string): Promise<Record<string, string>>;
  /** The names of all files below a folder of the site, with forward slashes, sorted. */
  list(folder?: string): Promise<string[]>;
  remove(): Promise<void>;
}

/**
 * An Astro config with the integration and these options, written as in the config.
 *
 * @param more what else is in it: imports, settings, and the integrations that stand before this one, each with its comma.
 */
export const configWith = (options = '', { imports = '', settings = '', integrations = '' } = {}) => `
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
${imports}
export default defineConfig({ ${settings} integrations: [${integrations}snippets(${options})] });
`;

/** An Astro page that imports `<Snippet>`. Its markup begins in line 4. */
export const pageWith = (markup: string) => `---
import { Snippet } from 'astro-snippets/components';
---
${markup}`;

/** A content config with one collection of snippets, by their entries as they are written there. */
export const collectionOf = (name: string, entries: string) => `
import { defineCollection } from 'astro:content';
import { snippetLoader } from 'astro-snippets/loader';
export const collections = { ${name}: defineCollection({ loader: snippetLoader(${entries}) }) };`;

/**
 * Creates an Astro site from files. Its config has `snippets()` alone unless the files contain another config.
 *
 * @param service what its builds and commands ask. Without one, they have an empty environment.
 */
export async function createSite(files: Record<string, string>, service?: TestService): Promise<Site> {
  await mkdir(sitesFolder, { recursive: true });
  const folder = await createFolder({}, join(sitesFolder, 'site-'));
  const { directory, remove } = folder;
  const site: Site = {
    directory,
    async write(more) {
      for (const [name, text] of Object.entries(more)) {
        // Vite's watcher drops a change that comes within 50 ms of another change of the same file.
        if (existsSync(join(directory, name))) await setTimeout(100);
        await folder.write({ [name]: astroVersion < 7 ? withoutComponentsInTitles(text) : text });
      }
    },
    async build(environment = service?.environment, ...flags) {
      const argv = ['build', ...flags];
      const result = await runInHost({ folder: directory, argv, environment: astroEnvironment(environment) });
      if (result.exitCode === 0) await checkBundles(site, outputOf(flags));
      return result;
    },
    async builds(...parameters) {
      const { exitCode, output } = await site.build(...parameters);
      expect(exitCode, output).toBe(0);
      return output;
    },
    run: (...arguments_) => cli(directory, arguments_, service?.environment),
    sync: (environment) =>
      runInHost({ folder: directory, argv: ['sync'], environment: astroEnvironment(environment) }),
    start: (arguments_, environment) =>
      startProgram(astroCommand, directory, arguments_, astroEnvironment(environment)),
    read: (name) => folder.read(join('dist', name)),
    texts: (below = 'dist') => folder.files(below),
    list: (below = 'dist') => folder.list(below),
    remove,
  };
  // Without one, Vite looks for it in every folder above, which takes a tenth of a small build.
  const postcss = { '.postcssrc.json': '{}' };
  await site.write({ ...postcss, 'astro.config.mjs': configWith(), ...files });
  return site;
}

function astroEnvironment(environment: Record<string, string> = {}): NodeJS.ProcessEnv {
  return { ...cleanEnvironment(), ASTRO_TELEMETRY_DISABLED: '1', NO_COLOR: '1', ...environment };
}

/** Creates a site that is removed when the test that is running ends, also if it fails. */
export async function temporarySite(...parameters: Parameters<typeof createSite>): Promise<Site> {
  const site = await createSite(...parameters);
  onTestFinished(() => site.remove());
  return site;
}

/** Astro before 7 renders no components in these elements, and its pages contain the element of this package there. */
function withoutComponentsInTitles(source: string): string {
  return source.replace(/<(title|textarea)>((?:(?!<\/\1)[\s\S])*)<\/\1>/g, (element) =>
    element.replace(/\{?<Snippet id=\{(\d+)\} \/>\}?/g, '<snippet-embed id="$1"></snippet-embed>'),
  );
}

function outputOf(flags: readonly string[]): string {
  const at = flags.indexOf('--outDir');
  return (at === -1 ? undefined : flags[at + 1]) ?? 'dist';
}

/** A build beside this one may be writing to another folder of the site. */
async function checkBundles(site: Site, folder: string): Promise<void> {
  for (const name of await site.list(folder)) {
    if (!/\.(html|js|mjs|map)$/.test(name) || name.startsWith('server/')) continue;
    const file = await readFile(join(site.directory, folder, name), 'utf8');
    // Astro inlines small scripts into the page.
    const text = name.endsWith('.html') ? (file.match(/<script\b[\s\S]*?<\/script>/g) ?? []).join() : file;
    for (const word of ['astro-snippets', 'undici', 'SnippetError', 'ZodError', 'SNIPPETS_']) {
      if (text.includes(word)) throw new Error(`${name}, which a browser loads, contains ${word}.`);
    }
  }
}
