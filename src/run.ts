import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AstroConfig, AstroIntegrationLogger, HookParameters } from 'astro';
import type { Announcements } from './build/announcements.ts';
import type { BuildFetcher } from './build/build-fetcher.ts';
import type { SiteBuild } from './build/build-site.ts';
import type { FinishedSite } from './build/finished-site.ts';
import type { CollectedEntry } from './build/recorder.ts';
import type { SnippetRequest } from './client/snippet-request.ts';
import { isWrittenSince } from './files/read.ts';
import type { FetchHook } from './loader/fetch-hook.ts';
import type { RecordedEnvironment } from './record/manifest.ts';
import { lockFile, manifestFile } from './record/manifest-file.ts';
import type { OutputLock } from './record/output-lock.ts';
import { hasPolicy } from './settings/astro-version.ts';
import type { Environment, EnvironmentFiles } from './settings/environment.ts';
import type { ParsedOptions } from './settings/options.ts';
import {
  type Assets,
  hasConnection,
  isWithoutKey,
  requireConnection,
  resolveSettings,
  type Settings,
} from './settings/settings.ts';
import type { SiteUrls } from './settings/site-urls.ts';
import type { ClassFile } from './snippets/class-file.ts';
import type { FetchedSnippets } from './snippets/fetch-snippets.ts';
import type { SourceFolders } from './source/source-files.ts';

export type Command = HookParameters<'astro:config:setup'>['command'];

/** From the root of the project. Documented: sites name it in their style sheets. */
const classFile = '.astro/integrations/astro-snippets/classes.html';

/**
 * One run of Astro: a build, a dev server, or a sync. Astro tells the integration about it step by step: the command,
 * then the config, then, through Vite, the environment. Reading something before its step throws.
 */
export class Run {
  readonly #options: ParsedOptions;
  #command: Command | undefined;
  #site: { config: AstroConfig; logger: AstroIntegrationLogger } | undefined;
  #environment: Environment | undefined;
  #environmentFiles: EnvironmentFiles | undefined;
  #settings: Settings | undefined;
  #announcements: Announcements | undefined;
  #finished: FinishedSite | undefined;
  #opened: Promise<BuildFetcher> | undefined;
  /** In milliseconds since the epoch. */
  #openedAt = 0;
  /** Collections for which snippets are being fetched: Astro loads all of them at the same time. */
  #fetching = 0;
  #lock: OutputLock | undefined;
  #locking: Promise<void> | undefined;
  #hadManifest = false;
  #classes: ClassFile | undefined;
  /** By the names of collections, since Astro may load one again. */
  readonly #collected = new Map<string, CollectedEntry[]>();

  constructor(options: ParsedOptions) {
    this.#options = options;
  }

  /** In `astro:config:setup`. */
  begin(command: Command): void {
    // Astro has no hook for a build that failed, and a program may build again.
    this.#unlockOutput();
    this.#command = command;
  }

  /** In `astro:config:done`. */
  async configure(config: AstroConfig, logger: AstroIntegrationLogger): Promise<void> {
    this.#site = { config, logger };
    if (!this.#options.classes) return;
    // What follows makes no CSS, and may run where nothing can be written.
    if (this.command === 'preview' || this.command === 'sync') return;
    const { ClassFile } = await import('./snippets/class-file.ts');
    this.#classes = new ClassFile(fileURLToPath(new URL(classFile, config.root)));
    // What reads it may do so at any time from now on. In a build it is written again before Vite bundles.
    if (this.command === 'dev') this.#classes.keep();
    this.#classes.create();
  }

  /**
   * In Vite's `configResolved`: several times in a build, and again when a `.env` file changes in dev.
   *
   * @throws AstroError for a malformed key or URL.
   */
  readEnvironment(environment: Environment, files: EnvironmentFiles): void {
    this.#environmentFiles = files;
    if (JSON.stringify(environment) === JSON.stringify(this.#environment)) return;
    this.#environment = environment;
    this.#settings = resolveSettings(this.#options, environment, {
      cacheDirectory: fileURLToPath(this.config.cacheDir),
      hasPolicy: hasPolicy(this.config),
      urls: this.urls,
      assets: this.#assets,
    });
    void this.close();
  }

  get #assets(): Assets {
    const { base, build } = this.config;
    // As Astro does with its own images: a dev server serves them itself.
    const prefix = this.command === 'dev' ? base : (build.assetsPrefix ?? base);
    return { folder: build.assets, prefix };
  }

  get command(): Command {
    return known(this.#command, 'command');
  }

  get config(): AstroConfig {
    return known(this.#site, 'config').config;
  }

  get logger(): AstroIntegrationLogger {
    return known(this.#site, 'config').logger;
  }

  get urls(): SiteUrls {
    const { site, base, trailingSlash, build } = this.config;
    return { site, base, trailingSlash, format: build.format };
  }

  get settings(): Settings {
    return known(this.#settings, 'environment');
  }

  /** The folder from that of the project, so that both can be moved together. */
  get #recordedEnvironment(): RecordedEnvironment {
    const { mode, directory } = known(this.#environmentFiles, 'environment');
    return { mode, directory: directory && (relative(this.#folders.root, directory) || undefined) };
  }

  get classFile(): string | undefined {
    return this.#classes?.file;
  }

  get manifest(): string {
    return manifestFile(this.#folders);
  }

  get #folders() {
    const { cacheDir, root, outDir } = this.config;
    return { cacheDir: fileURLToPath(cacheDir), root: fileURLToPath(root), outDir: fileURLToPath(outDir) };
  }

  get sources(): SourceFolders {
    const { root, outDir } = this.#folders;
    return { root, srcDir: fileURLToPath(this.config.srcDir), outDir };
  }

  /**
   * In `astro:build:start`. Snippets are fetched as soon as they are known: those of the last build now, others when a
   * page announces them.
   *
   * @throws AstroError if the last build showed snippets, and the key or the base URLs are missing now; and if another
   * build of this output is running.
   */
  async startBuild(): Promise<void> {
    this.#announcements?.stop();
    this.#announcements = undefined;
    this.#finished = undefined;
    // Before Astro empties the output of the build that is running.
    if (existsSync(this.#lockFile)) await this.#lockOutput();
    this.#hadManifest = existsSync(this.manifest);
    if (this.#lock !== undefined) await this.#listen();
    // Nothing more is loaded for a site that never showed a snippet.
    if (this.#hadManifest) await this.#prefetchLastBuild();
    await this.prepareClasses();
  }

  async #prefetchLastBuild(): Promise<void> {
    await this.#lockOutput();
    // A refresh that has ended since collections opened it.
    if (isWrittenSince(this.manifest, this.#openedAt)) await this.close();
    await this.#listen();
    const { requestsOf } = await import('./record/manifest.ts');
    const { removeOtherPacks } = await import('./record/pack.ts');
    const { fetcher, before } = await this.open();
    const requests = requestsOf(before);
    if (requests.length > 0) this.#requireConnection('the snippets of the last build');
    // From here on the output is no longer that of the last build, even if this build is killed.
    await rm(this.manifest, { force: true });
    removeOtherPacks(this.manifest, {});
    // While Astro still bundles. A snippet that is no longer embedded costs a request and nothing else.
    for (const request of requests) fetcher.prefetch(request);
  }

  /**
   * Waits for the snippets that are known before a page is rendered, so that CSS is made for their classes. Where no
   * snippet can be fetched, those of the last time stay.
   */
  async prepareClasses(): Promise<void> {
    if (this.#classes === undefined || !hasConnection(this.settings)) return;
    const { prepareEarly } = await import('./build/build-fetcher.ts');
    this.#classes.add(await prepareEarly(await this.open(), this.sources, this.settings));
    this.#classes.write();
  }

  /** In `astro:build:generated`: inlines snippets into the output. */
  async finishBuild(output: Pick<SiteBuild, 'directory' | 'routeToHeaders'>): Promise<void> {
    const { settings, manifest, logger, sources } = this;
    try {
      if (this.#isProbablyPlain) {
        const { finishPlainSite } = await import('./build/finished-site.ts');
        this.#finished = await finishPlainSite(output.directory, settings);
        if (this.#finished !== undefined) return;
      }
      const { buildSite } = await import('./build/build-site.ts');
      const opened = await this.open();
      this.#announcements?.stop();
      this.#finished = await buildSite({
        ...output,
        ...opened,
        outDir: this.#folders.outDir,
        manifest,
        hadManifest: this.#hadManifest,
        collected: [...this.#collected.values()].flat(),
        urls: this.urls,
        classes: this.#classes?.written,
        sources,
        settings,
        environment: this.#recordedEnvironment,
        logger,
        announcements: this.#announcements,
        onEmbeds: () => this.#lockOutput(),
      });
    } catch (error) {
      this.#unlockOutput();
      throw error;
    } finally {
      this.#announcements?.stop();
      await this.close();
    }
  }

  /** When all pages are generated: there may be none, and then Astro has not called `astro:build:generated`. */
  async finishWithoutPages(directory: string): Promise<void> {
    if (this.#finished !== undefined) return;
    await this.finishBuild({ directory, routeToHeaders: new Map() });
  }

  /** Whether there was no sign of an embed so far. The output has the last word. */
  get #isProbablyPlain(): boolean {
    return (
      this.#opened === undefined &&
      this.#lock === undefined &&
      !this.#hadManifest &&
      this.#collected.size === 0
    );
  }

  /**
   * In the last `astro:build:done` of all: checks what other integrations wrote in the meantime, and writes the manifest,
   * with the copies that adapters made.
   */
  async checkLateFiles(directory: string): Promise<void> {
    await this.close();
    try {
      await this.#checkLateFiles(directory);
    } finally {
      this.#unlockOutput();
    }
  }

  async #checkLateFiles(directory: string): Promise<void> {
    if (this.#finished === undefined) return;
    const { checkLateFiles } = await import('./build/finished-site.ts');
    await checkLateFiles(directory, this.settings, this.#finished);
    await this.#writeRecord(directory, this.#finished);
  }

  /** Last of all, since a build that fails has no record. */
  async #writeRecord(directory: string, { at, files, record }: FinishedSite): Promise<void> {
    if (record === undefined) return;
    const { findCopies } = await import('./build/side-products/page-copies.ts');
    const { outputFrom, writeManifest } = await import('./record/manifest.ts');
    const { removeOtherPacks } = await import('./record/pack.ts');
    const root = fileURLToPath(this.config.root);
    const { sealedFiles } = await import('./build/output-state.ts');
    const copies = findCopies(root, directory, { files, since: at });
    const recorded = copies.map((copy) => outputFrom(this.manifest, copy));
    await writeManifest(this.manifest, {
      ...record,
      files: await sealedFiles(directory, record.files, { at, before: this.#finished?.before }),
      ...(recorded.length > 0 && { copies: recorded }),
    });
    removeOtherPacks(this.manifest, record);
  }

  /**
   * At the first sign of an embed, which is in the site's own code: `<Snippet>` is bundled before it is rendered.
   *
   * @throws AstroError if another process writes to the output.
   */
  async expectEmbeds(): Promise<void> {
    if (this.command !== 'build') return;
    await this.#lockOutput();
    await this.#listen();
  }

  /**
   * From now on, no other build or refresh may write to the output until this build has ended. A build of a site without
   * embeds is none of our business. A refresh, which is soon over, is waited for.
   *
   * @throws AstroError if another build writes to it.
   */
  async #lockOutput(): Promise<void> {
    if (this.#lock !== undefined) return;
    // Several modules may ask at the same time.
    this.#locking ??= this.#takeLock();
    await this.#locking;
  }

  async #takeLock(): Promise<void> {
    const { lockAfterRefresh } = await import('./record/output-lock.ts');
    try {
      this.#lock = await lockAfterRefresh(this.#lockFile, this.#outDir, (line) => this.logger.info(line));
    } finally {
      this.#locking = undefined;
    }
  }

  /** Fetches each snippet as soon as a page announces it. */
  async #listen(): Promise<void> {
    if (this.#announcements !== undefined) return;
    const { Announcements } = await import('./build/announcements.ts');
    this.#announcements ??= new Announcements((request, pathname) => this.#prefetch(request, pathname));
  }

  /** The output folder, as people know it. */
  get #outDir(): string {
    const { root, outDir } = this.#folders;
    return relative(root, outDir);
  }

  #unlockOutput(): void {
    this.#lock?.release();
    this.#lock = undefined;
  }

  get #lockFile(): string {
    return lockFile(this.manifest, this.#folders.outDir);
  }

  /** @throws AstroError if the key or the base URLs are missing, which fails the page that announced the snippet. */
  #prefetch(request: SnippetRequest, pathname: string): void {
    this.#requireConnection(pathname);
    // They may depend on the page's language, which is known once the page is rendered.
    if (this.settings.params !== undefined) return;
    void this.open().then(({ fetcher }) => fetcher.prefetch(request));
  }

  #requireConnection(neededFor: string): void {
    if (!isWithoutKey(this.settings)) requireConnection(this.settings, neededFor);
  }

  /** The snippets of this run, opened once for its pages and its collections. */
  open(): Promise<BuildFetcher> {
    if (this.#opened === undefined) {
      this.#openedAt = Date.now();
      this.#opened = this.#open();
    }
    return this.#opened;
  }

  /** Fetches snippets for a collection. */
  async fetch({ uses, collection, entries }: Parameters<FetchHook>[0]): Promise<FetchedSnippets> {
    this.#fetching += 1;
    try {
      const { fetcher } = await this.open();
      const snippets = await fetcher.fetch(uses);
      const collected = [...entries].flatMap(([entry, request]) => {
        const snippet = snippets.get(request.key);
        return snippet === undefined ? [] : { collection, entry, request, snippet };
      });
      this.#collected.set(collection, collected);
      return snippets;
    } finally {
      this.#fetching -= 1;
      // Nothing follows in a sync. A build and a dev server go on with their pages.
      if (this.command === 'sync' && this.#fetching === 0) await this.close();
    }
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    // Before anything is awaited: a run that is opened in the meantime stays open.
    this.#opened = undefined;
    await (await opened)?.fetcher.close();
  }

  async #open(): Promise<BuildFetcher> {
    const { settings, manifest, logger } = this;
    // Imported only here: a site without snippets loads none of it.
    if (this.command === 'dev') {
      const { openDevFetcher } = await import('./dev/dev-fetcher.ts');
      return {
        fetcher: openDevFetcher(settings, logger, (names) => this.#addClasses(names)),
        before: undefined,
      };
    }
    const { openBuildFetcher } = await import('./build/build-fetcher.ts');
    // Needed later. While Astro bundles and renders, loading it delays nothing.
    void import('./build/build-site.ts').catch(() => {});
    return openBuildFetcher(settings, manifest, logger, (names) => this.#classes?.add(names));
  }

  /** In `astro dev`, CSS is made again for classes that are new. */
  #addClasses(names: readonly string[]): void {
    this.#classes?.add(names);
    this.#classes?.writeSoon((error) => this.logger.warn(error.message));
  }
}

function known<T>(value: T | undefined, name: string): T {
  if (value !== undefined) return value;
  throw new Error(`astro-snippets: the ${name} of this run is not known yet.`);
}
