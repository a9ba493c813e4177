import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import type { TestService } from '../service/service.ts';
import { type CliResult, cli } from '../tools/cli.ts';
import { type RunningCommand, startProgram } from '../tools/command.ts';
import { cleanEnvironment } from '../tools/environment.ts';
import { createFolder } from './folder.ts';
import { runInHost } from './hosted-builds.ts';
import { astroCommand, astroVersion, sitesFolder } from './installation.ts';

/** A build that has ended. */
export interface BuildResult {
  exitCode: number | null;
  /** Standard output and standard error, in order. */
  output: string;
}

/** An Astro site in its own folder. */
export interface Site {
  directory: string;
  write(files: Record<string, string>): Promise<void>;
  /**
   * Runs `astro build` in a shared process, by default with the environment of its service. Fails if a
   * browser script contains code of this package or its dependencies.
   */
  build(environment?: Record<string, string>, ...flags: string[]): Promise<BuildResult>;
  /** Runs `astro build`, which has to succeed. Returns the output. */
  builds(environment?: Record<string, string>, ...flags: string[]): Promise<string>;
  /** Runs `astro sync` in a shared process. */
  sync(environment?: Record<string, string>): Promise<BuildResult>;
  /** Runs `astro-snippets` in this process, with the environment of its service. */
  run(...arguments_: string[]): Promise<CliResult>;
  /** Starts `astro` in its own process, as a user would. */
  start(arguments_: string[], environment?: Record<string, string>): RunningCommand;
  /** The text of an output file. */
  read(name: string): Promise<string>;
  /** The texts of all files in the output, or in another folder of the site. */
  texts(folder?: string): Promise<Record<string, string>>;
  /** The names of all files in a folder of the site, with forward slashes, sorted. */
  list(folder?: string): Promise<string[]>;
  remove(): Promise<void>;
}

/**
 * An Astro config with the integration. The options are the source of an object.
 *
 * @param more imports, settings, and integrations before this one, each with its comma.
 */
export const configWith = (options = '', { imports = '', settings = '', integrations = '' } = {}): string => `
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
${imports}
export default defineConfig({ ${settings} integrations: [${integrations}snippets(${options})] });
`;

/** An Astro page that imports `<Snippet>`. Its markup begins on line 4. */
export const pageWith = (markup: string): string => `---
import { Snippet } from 'astro-snippets/components';
---
${markup}`;

/** A content config with one collection of snippets. The entries are source code. */
export const collectionOf = (name: string, entries: string): string => `
import { defineCollection } from 'astro:content';
import { snippetLoader } from 'astro-snippets/loader';
export const collections = { ${name}: defineCollection({ loader: snippetLoader(${entries}) }) };`;

/**
 * Creates an Astro site from files. Its default config has only `snippets()`.
 *
 * @param service the service whose environment builds and commands get. Without a service, they have none.
 */
export async function createSite(files: Record<string, string>, service?: TestService): Promise<Site> {
  await mkdir(sitesFolder, { recursive: true });
  const folder = await createFolder({}, join(sitesFolder, 'site-'));
  const { directory, remove } = folder;
  const site: Site = {
    directory,
    async write(more) {
      for (const [name, text] of Object.entries(more)) {
        // Vite's watcher drops a second change of a file within 50 ms.
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
  // Vite would look for a PostCSS config in every parent folder, which takes a tenth of a small build.
  const postcss = { '.postcssrc.json': '{}' };
  await site.write({ ...postcss, 'astro.config.mjs': configWith(), ...files });
  return site;
}

function astroEnvironment(environment: Record<string, string> = {}): NodeJS.ProcessEnv {
  return { ...cleanEnvironment(), ASTRO_TELEMETRY_DISABLED: '1', NO_COLOR: '1', ...environment };
}

/** Creates a site that is removed when the running test ends. */
export async function temporarySite(...parameters: Parameters<typeof createSite>): Promise<Site> {
  const site = await createSite(...parameters);
  onTestFinished(() => site.remove());
  return site;
}

/** Astro before 7 renders no components in these elements, so the custom element replaces them. */
function withoutComponentsInTitles(source: string): string {
  return source.replace(/<(title|textarea)>((?:(?!<\/\1)[\s\S])*)<\/\1>/g, (element) =>
    element.replace(/\{?<Snippet id=\{(\d+)\} \/>\}?/g, '<snippet-embed id="$1"></snippet-embed>'),
  );
}

function outputOf(flags: readonly string[]): string {
  const at = flags.indexOf('--outDir');
  return (at === -1 ? undefined : flags[at + 1]) ?? 'dist';
}

/**
 * Fails if a browser script contains code of this package or its dependencies. Looks at one output folder
 * only: a parallel build may be writing to another.
 */
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
