import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { isWrittenSince } from '../files/read.ts';
import { lockFile, manifestFile } from '../record/manifest-file.ts';
import { lockAfterRefresh, type OutputLock } from '../record/output-lock.ts';
import { isWithoutKey, requireConnection } from '../settings/settings.ts';
import type { FetchedSnippets, FetchHook } from '../snippets/fetch-snippets.ts';
import { Announcements } from './announcements.ts';
import type { BuildFetcher } from './build-fetcher.ts';
import type { SiteBuild } from './build-site.ts';
import { checkLateFiles, type FinishedSite, finishPlainSite } from './finished-site.ts';
import type { CollectedEntry } from './recorder.ts';
import { type Site, SiteRun } from './site-run.ts';

/** A build; or a sync, which loads collections and nothing else. */
export class BuildRun extends SiteRun {
  readonly #manifest: string;
  readonly #lockFile: string;
  #announcements: Announcements | undefined;
  #lock: Promise<OutputLock> | undefined;
  #hadManifest = false;
  /** In milliseconds since the epoch. */
  #openedAt = 0;
  /** Collections for which snippets are being fetched: Astro loads all of them at the same time. */
  #fetching = 0;
  /** By the names of collections, since Astro may load one again. */
  readonly #collected = new Map<string, CollectedEntry[]>();
  #finished: FinishedSite | undefined;

  constructor(site: Site) {
    super(site);
    const cacheDir = fileURLToPath(site.config.cacheDir);
    this.#manifest = manifestFile({ ...this.sources, cacheDir });
    this.#lockFile = lockFile(this.#manifest, this.sources.outDir);
  }

  protected override async openFetcher(): Promise<BuildFetcher> {
    this.#openedAt = Date.now();
    const { settings } = this;
    const { openBuildFetcher } = await import('./build-fetcher.ts');
    // Needed later. While Astro bundles and renders, loading it delays nothing.
    void import('./build-site.ts').catch(() => {});
    const addClasses = (names: readonly string[]) => this.classes?.add(names);
    return openBuildFetcher(settings, this.#manifest, this.site.logger, addClasses);
  }

  override async fetch(options: Parameters<FetchHook>[0]): Promise<FetchedSnippets> {
    const { collection, entries } = options;
    this.#fetching += 1;
    try {
      const snippets = await super.fetch(options);
      const collected = [...entries].flatMap(([entry, request]) => {
        const snippet = snippets.get(request.key);
        return snippet === undefined ? [] : { collection, entry, request, snippet };
      });
      this.#collected.set(collection, collected);
      return snippets;
    } finally {
      this.#fetching -= 1;
      // Nothing follows in a sync. A build goes on with its pages.
      if (this.site.command === 'sync' && this.#fetching === 0) await this.close();
    }
  }

  /**
   * In `astro:build:start`. Snippets are fetched as soon as they are known: those of the last build now, others when a
   * page announces them.
   *
   * @throws AstroError if the last build showed snippets, and the key or the base URLs are missing now; and if another
   * build of this output is running.
   */
  async start(): Promise<void> {
    // Before Astro empties the output of the build that is running.
    if (existsSync(this.#lockFile)) await this.lockOutput();
    this.#announcements = new Announcements((request, pathname) => this.#prefetch(request, pathname));
    this.#hadManifest = existsSync(this.#manifest);
    // Nothing more is loaded for a site that never showed a snippet.
    if (this.#hadManifest) await this.#prefetchLastBuild();
    await this.prepareClasses();
  }

  async #prefetchLastBuild(): Promise<void> {
    await this.lockOutput();
    // A refresh that has ended since collections opened it.
    if (isWrittenSince(this.#manifest, this.#openedAt)) await this.close();
    const { requestsOf } = await import('../record/manifest.ts');
    const { removeOtherPacks } = await import('../record/pack.ts');
    const { fetcher, before } = await this.open();
    const requests = requestsOf(before);
    if (requests.length > 0) this.#requireConnection('the snippets of the last build');
    // From here on the output is no longer that of the last build, even if this build is killed.
    await rm(this.#manifest, { force: true });
    removeOtherPacks(this.#manifest, {});
    // While Astro still bundles. A snippet that is no longer embedded costs a request and nothing else.
    for (const request of requests) fetcher.prefetch(request);
  }

  /** @throws AstroError if the key or the base URLs are missing, which fails the page that announced the snippet. */
  #prefetch(request: SnippetRequest, pathname: string): void {
    this.#requireConnection(pathname);
    // They may depend on the page's language, which is known once the page is rendered.
    if (this.settings.params !== undefined) return;
    // What fails here fails again when the page needs the snippet.
    this.open().then(
      ({ fetcher }) => fetcher.prefetch(request),
      () => {},
    );
  }

  #requireConnection(neededFor: string): void {
    if (!isWithoutKey(this.settings)) requireConnection(this.settings, neededFor);
  }

  /**
   * From now on, no other build or refresh may write to the output until this build has ended. A build of a site without
   * embeds is none of our business, so this waits for the first sign of one, which is in the site's own code: `<Snippet>`
   * is bundled before it is rendered. A refresh, which is soon over, is waited for.
   *
   * @throws AstroError if another build writes to it.
   */
  async lockOutput(): Promise<void> {
    const { root, outDir } = this.sources;
    // Several modules may ask at the same time.
    this.#lock ??= lockAfterRefresh(this.#lockFile, relative(root, outDir), (line) =>
      this.site.logger.info(line),
    );
    await this.#lock;
  }

  /** When all pages are generated: inlines snippets into the output, once. */
  async finish({
    directory,
    routeToHeaders = new Map(),
  }: Pick<SiteBuild, 'directory'> & Partial<Pick<SiteBuild, 'routeToHeaders'>>): Promise<void> {
    if (this.#finished !== undefined) return;
    const { settings, sources, urls, site } = this;
    try {
      // There was no sign of an embed so far. The output has the last word.
      if (this.#lock === undefined && this.#collected.size === 0) {
        this.#finished = await finishPlainSite(directory, settings);
        if (this.#finished !== undefined) return;
      }
      const { buildSite } = await import('./build-site.ts');
      const opened = await this.open();
      this.#finished = await buildSite({
        ...opened,
        directory,
        routeToHeaders,
        outDir: sources.outDir,
        manifest: this.#manifest,
        hadManifest: this.#hadManifest,
        collected: [...this.#collected.values()].flat(),
        urls,
        classes: this.classes?.written,
        sources,
        settings,
        environment: this.environment,
        logger: site.logger,
        announcements: this.#announcements,
        onEmbeds: () => this.lockOutput(),
      });
    } catch (error) {
      await this.release();
      throw error;
    }
    await this.close();
  }

  /**
   * In the last `astro:build:done` of all: checks what other integrations wrote in the meantime, and writes the manifest,
   * with the copies that adapters made. Last of all, since a build that fails has no record.
   */
  async complete(directory: string): Promise<void> {
    try {
      if (this.#finished === undefined) return;
      await checkLateFiles(directory, this.settings, this.#finished);
      // All that it takes is loaded already.
      if (this.#finished.record === undefined) return;
      const { recordSite } = await import('./build-site.ts');
      await recordSite(this.#manifest, directory, this.sources.root, this.#finished);
    } finally {
      await this.release();
    }
  }

  /** Astro has no hook for a build that failed, and a program may build again. */
  async release(): Promise<void> {
    this.#announcements?.stop();
    await this.close().catch(() => {});
    const lock = this.#lock;
    this.#lock = undefined;
    (await lock?.catch(() => undefined))?.release();
  }
}
