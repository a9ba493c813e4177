import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AstroConfig, AstroIntegrationLogger, HookParameters } from 'astro';
import { consequenceOf } from '../failures/error-table.ts';
import { entryName } from '../failures/places.ts';
import type { ClassFile } from '../inlining/class-file.ts';
import type { Manifest } from '../record/manifest.ts';
import { hasPolicy } from '../settings/astro-version.ts';
import { hasConnection } from '../settings/connection.ts';
import type { Environment, EnvironmentFiles } from '../settings/environment.ts';
import type { ParsedOptions } from '../settings/options.ts';
import { resolveSettings, type Settings } from '../settings/settings.ts';
import type { SiteUrls } from '../settings/site-urls.ts';
import type {
  FetchedSnippet,
  FetchedSnippets,
  FetchHook,
  SnippetFetcher,
} from '../snippets/snippet-fetcher.ts';
import type { SnippetUses } from '../snippets/snippet-use.ts';
import type { SiteSource } from '../source/site-source.ts';
import type { SourceSearch } from '../source/source-search.ts';

/** In the project. Sites name it in their style sheets. */
const classFile = '.astro/integrations/astro-snippets/classes.html';

/** What a run of Astro begins with, in `astro:config:done`. */
export interface Site {
  command: HookParameters<'astro:config:setup'>['command'];
  options: ParsedOptions;
  config: AstroConfig;
  logger: AstroIntegrationLogger;
  sources: SiteSource;
  /** Whether some pages are rendered on demand. Astro then moves files after inlining. */
  isServer: boolean;
}

export abstract class SiteRun {
  readonly site: Site;
  readonly urls: SiteUrls;
  /** Known once Vite has read the environment. */
  settings!: Settings;
  environment!: EnvironmentFiles;
  /** The record of the last build, once the fetcher is opened. */
  previousManifest: Manifest | undefined;
  classes: ClassFile | undefined;
  #variables: string | undefined;
  #opened: Promise<SnippetFetcher> | undefined;

  constructor(site: Site) {
    const { base, trailingSlash, build, site: url } = site.config;
    this.site = site;
    this.urls = { site: url, base, trailingSlash, format: build.format };
  }

  async openClasses(): Promise<void> {
    const { command, options, config } = this.site;
    if (!options.classes) return;
    const { openClassFile } = await import('../inlining/class-file.ts');
    // In a build it is written again before Vite bundles.
    this.classes = openClassFile(fileURLToPath(new URL(classFile, config.root)), command === 'dev');
  }

  /** Several times in a build, and when a `.env` file changes in dev. */
  readEnvironment(environment: Environment, { mode, directory }: EnvironmentFiles): void {
    // From the project's folder, so that both can move together.
    this.environment = { mode, directory: directory && relative(this.site.sources.folders.root, directory) };
    const variables = JSON.stringify(environment);
    if (variables === this.#variables) return;
    const { command, options, config } = this.site;
    const { base, build } = config;
    this.settings = resolveSettings(options, environment, {
      cacheDirectory: fileURLToPath(config.cacheDir),
      hasPolicy: hasPolicy(config),
      urls: this.urls,
      // As for Astro's own images: a dev server serves them itself.
      assets: { folder: build.assets, prefix: command === 'dev' ? base : (build.assetsPrefix ?? base) },
    });
    this.#variables = variables;
    this.close().catch(() => {});
  }

  /** Only when a snippet is needed. */
  protected abstract openFetcher(): Promise<SnippetFetcher>;

  /** Once for pages and collections. */
  open(): Promise<SnippetFetcher> {
    this.#opened ??= this.openFetcher();
    return this.#opened;
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    // Before any await: a run opened meanwhile stays open.
    this.#opened = undefined;
    await (await opened)?.close();
  }

  async fetch({ collection, entries }: Parameters<FetchHook>[0]): Promise<FetchedSnippets> {
    const { addUse } = await import('../snippets/snippet-use.ts');
    const uses: SnippetUses = new Map();
    for (const [entry, request] of entries) addUse(uses, request, entryName({ collection, entry }));
    const placeOf = (await this.openSearch()).whereWritten;
    const snippets = await (await this.open()).fetch([...uses.values()], { placeOf });
    this.noteClasses(snippets.values());
    return snippets;
  }

  protected async openSearch(): Promise<SourceSearch> {
    const { SourceSearch } = await import('../source/source-search.ts');
    return new SourceSearch(this.site.sources);
  }

  protected noteClasses(snippets: Iterable<FetchedSnippet>): void {
    for (const { classes } of snippets) this.classes?.add(classes ?? []);
  }

  /**
   * Has CSS made for the classes of snippets before pages are rendered, and for those of the last build if one fails.
   * Without a key, the classes stay.
   */
  async prepareClasses(): Promise<void> {
    if (!this.classes || !hasConnection(this.settings)) return;
    const fetcher = await this.open();
    const { addUse } = await import('../snippets/snippet-use.ts');
    // The option may depend on a page's language, still unknown.
    const literal = this.settings.params ? [] : (await this.openSearch()).literalRequests();
    const before = this.previousManifest?.snippets ?? [];
    const uses: SnippetUses = new Map();
    for (const request of [...before, ...literal]) addUse(uses, request, '');
    const { fetched, failed } = await fetcher.prepare([...uses.values()]);
    this.noteClasses(fetched.values());
    const missed = failed.filter(({ error }) => consequenceOf(error) === 'children');
    const keys = new Set(missed.map(({ request }) => request.key));
    for (const { key, content } of before) if (keys.has(key)) this.classes.add(content?.classes ?? []);
    this.classes.write();
  }
}
