import { existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AstroIntegrationLogger } from 'astro';
import type { SnippetRequest } from '../client/snippet-request.ts';
import type { CollectionEntry } from '../failures/places.ts';
import { shownPath } from '../files/paths.ts';
import { statsOf, wasWrittenAfter } from '../files/read.ts';
import { OutputVerifier } from '../inlining/verify-output.ts';
import { listSiteFiles, type ScannableFile } from '../output/site-files.ts';
import { lockForBuild } from '../record/lock.ts';
import type { Manifest } from '../record/manifest.ts';
import { missingNote, noteMissing, removeManifest } from '../record/missing-note.ts';
import { lockFile, manifestFile } from '../record/record-paths.ts';
import type { RouteToHeaders } from '../settings/astro-version.ts';
import { isWithoutKey, requireConnection } from '../settings/connection.ts';
import type {
  FetchedSnippet,
  FetchedSnippets,
  FetchHook,
  SnippetFetcher,
} from '../snippets/snippet-fetcher.ts';
import type { SourceSearch } from '../source/source-search.ts';
import type { Announcements } from './announcements.ts';
import { hearAnnouncements } from './announcements.ts';
import { SiteRun } from './site-run.ts';

const unfinishedNote = 'The last build was not finished.';

/** A build; or a sync, which loads collections and nothing else. */
export class BuildRun extends SiteRun {
  readonly manifest: string = manifestFile({
    ...this.site.sources.folders,
    cacheDir: fileURLToPath(this.site.config.cacheDir),
  });
  readonly #lockFile = lockFile(this.manifest, this.site.sources.folders.outDir);
  readonly logger: AstroIntegrationLogger = this.site.logger;
  /** Astro's folder of files whose names change with their sources. */
  readonly assets: string = this.site.config.build.assets;
  readonly laterIntegrations: string[] = this.site.config.integrations
    .filter(({ name }) => !/^astro-snippets(:|$)/.test(name))
    .filter(({ hooks }) => hooks['astro:build:generated'] ?? hooks['astro:build:done'])
    .map(({ name }) => name);
  // Known when pages are generated.
  directory!: string;
  routeToHeaders: RouteToHeaders | undefined;
  fetcher!: SnippetFetcher;
  search!: SourceSearch;
  verifier: OutputVerifier = new OutputVerifier();
  announcements: Announcements | undefined;
  /** Even if this version cannot read it. */
  hadManifest = false;
  #lock: ReturnType<typeof lockForBuild> | undefined;
  /** Collections: Astro loads all at once. */
  #fetching = 0;
  readonly #collected = new Map<
    string,
    (CollectionEntry & { request: SnippetRequest; snippet: FetchedSnippet })[]
  >();
  #inlined: Manifest | undefined;
  /** In milliseconds since the epoch. What is written later is checked, too. */
  #finishedAt: number | undefined;
  #hasCompressed = false;

  get collected(): (CollectionEntry & {
    request: SnippetRequest;
    snippet: FetchedSnippet;
  })[] {
    return [...this.#collected.values()].flat();
  }

  protected override async openFetcher(): Promise<SnippetFetcher> {
    // Until then, a refresh may write the last record.
    if (this.site.command === 'build') await this.lockOutput();
    const { SnippetFetcher } = await import('../snippets/snippet-fetcher.ts');
    const { readManifest } = await import('../record/manifest-file.ts');
    const { supersededBy } = await import('../record/manifest.ts');
    // For later. It delays nothing while Astro bundles.
    void import('./build-site.ts').catch(() => {});
    void import('../client/transport/undici.ts').then(({ loadUndici }) => loadUndici()).catch(() => {});
    this.previousManifest = (await readManifest(this.manifest)).manifest;
    return new SnippetFetcher(this.settings, {
      warn: (line) => this.logger.warn(line),
      remember: true,
      isSuperseded: supersededBy(this.previousManifest),
    });
  }

  override async fetch(options: Parameters<FetchHook>[0]): Promise<FetchedSnippets> {
    const { collection, entries } = options;
    this.#fetching += 1;
    try {
      const snippets = await super.fetch(options);
      const collected = [...entries].flatMap(([entry, request]) => {
        const snippet = snippets.get(request.key);
        return snippet ? { collection, entry, request, snippet } : [];
      });
      this.#collected.set(collection, collected);
      return snippets;
    } finally {
      this.#fetching -= 1;
      // In a sync, no pages follow.
      if (this.site.command === 'sync' && this.#fetching === 0) await this.close();
    }
  }

  /** Fetches the snippets of the last build now, and others when a page announces them. */
  async start(): Promise<void> {
    // Before Astro empties the output of a running build.
    if (existsSync(this.#lockFile)) await this.lockOutput();
    this.announcements = hearAnnouncements((request, pathname) => this.#prefetch(request, pathname));
    this.hadManifest = existsSync(this.manifest);
    // A site that never showed a snippet loads no more.
    if (this.hadManifest) {
      const { answers } = await this.open();
      const requests = this.previousManifest?.snippets ?? [];
      if (requests.length > 0) this.#requireConnection('the snippets of the last build');
      // From here on it is wrong, even if this build is killed.
      removeManifest(this.manifest, unfinishedNote);
      // A snippet that is no longer embedded costs only a request.
      for (const request of requests) answers.prefetch(request);
    }
    await this.#renewEntries();
    await this.prepareClasses();
  }

  /** Astro restores pages with the same data, even if an entry has changed. */
  async #renewEntries() {
    const { cacheDir, experimental } = this.site.config;
    const { collected } = this;
    const before = this.previousManifest?.collections ?? [];
    if (!experimental.incrementalBuild || collected.length + before.length === 0) return;
    const { hashOf } = await import('../record/manifest.ts');
    const now = collected.map(({ snippet, ...one }) => ({ ...one, content: hashOf(snippet.content) }));
    const [shown, shownBefore] = [now, before].map((entries) =>
      entries.map(({ collection, entry, content }) => JSON.stringify([collection, entry, content])).sort(),
    );
    if (`${shown}` === `${shownBefore}`) return;
    rmSync(new URL('incremental-build.json', cacheDir), { force: true });
  }

  #prefetch(request: SnippetRequest, pathname: string) {
    // Fails the page that announced the snippet.
    this.#requireConnection(pathname);
    // They may depend on the page's language, still unknown.
    if (this.settings.params) return;
    // It fails again when the page needs the snippet.
    this.open()
      .then(({ answers }) => answers.prefetch(request))
      .catch(() => {});
  }

  #requireConnection(neededFor: string) {
    if (!isWithoutKey(this.settings)) requireConnection(this.settings, neededFor);
  }

  /** At the first sign of an embed: others have to wait for this build. @throws AstroError if another one has the output. */
  async lockOutput(): Promise<void> {
    const { root, outDir } = this.site.sources.folders;
    const log = (line: string) => this.logger.info(line);
    // Several modules may ask at the same time.
    this.#lock ??= lockForBuild(this.#lockFile, shownPath(root, outDir), log).then((lock) => {
      noteMissing(this.manifest, unfinishedNote);
      return lock;
    });
    await this.#lock;
  }

  async finish(directory: string, routeToHeaders?: RouteToHeaders): Promise<void> {
    if (this.#finishedAt !== undefined) return;
    this.directory = directory;
    this.routeToHeaders = routeToHeaders;
    await this.#attempt(async () => {
      const { apiKey, exclude } = this.settings;
      const { scannable, unscanned, compressed } = listSiteFiles([directory], exclude);
      this.#hasCompressed = compressed.length > 0;
      this.verifier = new OutputVerifier(apiKey);
      // There was no sign of an embed, but one may be in the output.
      const isPlain =
        this.#lock === undefined &&
        this.#collected.size === 0 &&
        !scannable.some((file) => this.verifier.mayEmbed(file));
      if (!isPlain) await this.#inline(scannable);
      await this.verifier.read(unscanned);
      for (const { file } of this.verifier.withKey) rmSync(file, { force: true });
      this.verifier.refuse((names) => `The API key was found in ${names}. These files were removed.`);
      this.#finishedAt = Date.now();
    });
    await this.close();
  }

  /** Loads most of the code, for sites with embeds alone. */
  async #inline(scannable: readonly ScannableFile[]) {
    // For files as they are then: what is inside an embed goes.
    this.verifier = new OutputVerifier(this.settings.apiKey);
    this.fetcher = await this.open();
    this.search = await this.openSearch();
    const { buildSite } = await import('./build-site.ts');
    this.#inlined = await buildSite(this, scannable, this.announcements);
  }

  /** In the last `astro:build:done`: a build that fails has no record. */
  async complete(directory: string): Promise<void> {
    const at = this.#finishedAt;
    if (at !== undefined) await this.#attempt(() => this.#record(directory, at));
    await this.release();
  }

  /**
   * Refuses embeds that other integrations wrote after the pages, of which copies and precache lists may have been made, and
   * compressed files that were made before.
   */
  async #record(directory: string, at: number) {
    const { verifier } = this;
    const inlined = this.#inlined;
    const mayBeLate = this.site.isServer || this.laterIntegrations.length > 0 || this.#hasCompressed;
    if (mayBeLate) {
      const { scannable, unscanned, compressed } = listSiteFiles([directory], this.settings.exclude);
      const isLate = ({ file }: { file: string }) => wasWrittenAfter(statsOf(file), at);
      const embedding = scannable.filter((file) => isLate(file) && verifier.mayEmbed(file));
      await verifier.read(unscanned.filter(isLate));
      verifier.refuse((names) => `Another integration wrote the API key into ${names}.`);
      if (embedding.length > 0 || inlined) {
        const { refuseLateFiles } = await import('./late-files.ts');
        refuseLateFiles(embedding, compressed, inlined);
      }
    }
    // Astro has now removed the scripts that it rendered pages with.
    for (const line of verifier.codeWarnings()) this.logger.warn(line);
    // A site without snippets needs no record.
    if (!inlined) return rmSync(missingNote(this.manifest), { force: true });
    const { recordSite } = await import('../inlining/record-site.ts');
    await recordSite(this, inlined, mayBeLate ? at : undefined);
  }

  /** If `work` fails, notes why there is no record, unless the output is another build's. */
  async #attempt(work: () => Promise<void>) {
    try {
      await work();
    } catch (error) {
      const lock = await this.#lock?.catch(() => undefined);
      if (lock) removeManifest(this.manifest, error as Error);
      await this.release();
      throw error;
    }
  }

  /** Astro has no hook for a build that failed, and a program may build again. */
  async release(): Promise<void> {
    this.announcements?.stop();
    await this.close().catch(() => {});
    const lock = this.#lock;
    this.#lock = undefined;
    (await lock?.catch(() => undefined))?.release();
  }
}
