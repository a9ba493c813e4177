import { existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type SnippetRequest, toRequest } from '../client/snippet-request.ts';
import { componentBridge, containerPage } from '../embed/element.ts';
import { type CollectionEntry, describeNote } from '../failures/errors.ts';
import { shownPath, statsOf, wasWrittenAfter } from '../files/files.ts';
import type { Manifest } from '../record/manifest.ts';
import {
  lockFile,
  lockForBuild,
  manifestFile,
  missingNote,
  noteMissing,
  removeManifest,
} from '../record/record-files.ts';
import type { RouteToHeaders } from '../settings/astro-version.ts';
import { isWithoutKey, requireConnection } from '../settings/settings.ts';
import { routeFiles } from '../settings/site-urls.ts';
import type { FetchedSnippet, FetchHook, SnippetFetcher } from '../snippets/fetch-snippets.ts';
import type { FileEmbed } from '../snippets/file-embeds.ts';
import type { SourceSearch } from '../source/source-search.ts';
import type { GeneratedSite } from './inline-snippets.ts';
import { listSiteFiles, OutputVerifier, type ScannableFile, type ScannedSite } from './scan-site.ts';
import { SiteRun } from './site-run.ts';

const unfinishedNote = 'The last build was not finished.';

/** A build; or a sync, which loads collections and nothing else. */
export class BuildRun extends SiteRun {
  readonly manifest = manifestFile({
    ...this.site.sources.folders,
    cacheDir: fileURLToPath(this.site.config.cacheDir),
  });
  readonly #lockFile = lockFile(this.manifest, this.site.sources.folders.outDir);
  readonly logger = this.site.logger;
  /** Astro's folder of files whose names change with their sources. */
  readonly assets = this.site.config.build.assets;
  readonly laterIntegrations = this.site.config.integrations
    .filter(({ name }) => !/^astro-snippets(:|$)/.test(name))
    .filter(({ hooks }) => hooks['astro:build:generated'] ?? hooks['astro:build:done'])
    .map(({ name }) => name);
  // Known when pages are generated.
  directory!: string;
  routeToHeaders: RouteToHeaders | undefined;
  fetcher!: SnippetFetcher;
  search!: SourceSearch;
  verifier = new OutputVerifier();
  announcements: ReturnType<typeof hearAnnouncements> | undefined;
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

  get collected() {
    return [...this.#collected.values()].flat();
  }

  protected override async openFetcher() {
    // Until then, a refresh may write the last record.
    if (this.site.command === 'build') await this.lockOutput();
    const { SnippetFetcher } = await import('../snippets/fetch-snippets.ts');
    const { readManifest, supersededBy } = await import('../record/manifest.ts');
    // For later. It delays nothing while Astro bundles.
    void import('./inline-snippets.ts').catch(() => {});
    void import('../client/transport.ts').then(({ loadUndici }) => loadUndici()).catch(() => {});
    this.previousManifest = (await readManifest(this.manifest)).manifest;
    return new SnippetFetcher(this.settings, {
      warn: (line) => this.logger.warn(line),
      remember: true,
      isSuperseded: supersededBy(this.previousManifest),
    });
  }

  override async fetch(options: Parameters<FetchHook>[0]) {
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
  async start() {
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
  async lockOutput() {
    const { root, outDir } = this.site.sources.folders;
    const log = (line: string) => this.logger.info(line);
    // Several modules may ask at the same time.
    this.#lock ??= lockForBuild(this.#lockFile, shownPath(root, outDir), log).then((lock) => {
      noteMissing(this.manifest, unfinishedNote);
      return lock;
    });
    await this.#lock;
  }

  async finish(directory: string, routeToHeaders?: RouteToHeaders) {
    if (this.#finishedAt !== undefined) return;
    this.directory = directory;
    this.routeToHeaders = routeToHeaders;
    await this.#attempt(async () => {
      const { apiKey, exclude } = this.settings;
      const { scannable, others, compressed } = listSiteFiles([directory], exclude);
      this.#hasCompressed = compressed.length > 0;
      this.verifier = new OutputVerifier(apiKey);
      // There was no sign of an embed, but one may be in the output.
      const isPlain =
        this.#lock === undefined &&
        this.#collected.size === 0 &&
        !scannable.some((file) => this.verifier.mayEmbed(file));
      if (!isPlain) await this.#inline(scannable);
      await this.verifier.read(others);
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
    const { buildSite } = await import('./inline-snippets.ts');
    this.#inlined = await buildSite(this, scannable);
  }

  /** In the last `astro:build:done`: a build that fails has no record. */
  async complete(directory: string) {
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
      const { scannable, others, compressed } = listSiteFiles([directory], this.settings.exclude);
      const isLate = ({ file }: { file: string }) => wasWrittenAfter(statsOf(file), at);
      const embedding = scannable.filter((file) => isLate(file) && verifier.mayEmbed(file));
      await verifier.read(others.filter(isLate));
      verifier.refuse((names) => `Another integration wrote the API key into ${names}.`);
      if (embedding.length > 0 || inlined) {
        const { refuseLateFiles } = await import('./output-state.ts');
        refuseLateFiles(embedding, compressed, inlined);
      }
    }
    // Astro has now removed the scripts that it rendered pages with.
    for (const line of verifier.codeWarnings()) this.logger.warn(line);
    // A site without snippets needs no record.
    if (!inlined) return rmSync(missingNote(this.manifest), { force: true });
    const { recordSite } = await import('./inline-snippets.ts');
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
  async release() {
    this.announcements?.stop();
    await this.close().catch(() => {});
    const lock = this.#lock;
    this.#lock = undefined;
    (await lock?.catch(() => undefined))?.release();
  }
}

/** Hears what `<Snippet>` announces while pages are rendered. @param onFirst called once for each. If it throws, the page fails. */
function hearAnnouncements(onFirst: (request: SnippetRequest, pathname: string) => void) {
  const pages = new Map<string, string[]>();
  const requests = new Map<string, SnippetRequest>();
  const hear: typeof componentBridge.announce = (id, params, pathname) => {
    const request = toRequest(id, params);
    // Of equal keys, one is kept.
    const { key } = requests.get(request.key) ?? request;
    const onPage = pages.get(pathname);
    if (onPage) onPage.push(key);
    else pages.set(pathname, [key]);
    if (requests.has(key)) return;
    requests.set(key, request);
    onFirst(request, pathname);
  };
  componentBridge.announce = hear;
  return {
    stop() {
      // Another build of this process may have begun.
      if (componentBridge.announce === hear) componentBridge.announce = undefined;
    },

    /**
     * Snippets that were rendered but are not in the output, with the files of their page if known. If one is only there less
     * often, it is a warning: a page may render something for another purpose, too.
     */
    lost(scanned: ScannedSite, scannable: readonly ScannableFile[], { urls, logger, search }: GeneratedSite) {
      if (pages.size === 0) return [];
      const keysIn = new Map(scanned.files.map(({ name, embeds }) => [name, embeds.map(writtenKey)]));
      const names = new Set(scannable.map(({ name }) => name));
      const invalid = new Set(scanned.invalid.map(({ file }) => file));
      // A page may be rendered under another path, such as another language's.
      const everywhere = countKeys([...keysIn.values()].flat());
      const rendered = countKeys([...pages.values()].flat());
      return [...pages].flatMap(([pathname, onPage]) => {
        const routes = [...routeFiles(pathname, urls.base), pathname.replace(/^\//, '')];
        const files = routes.filter((name) => names.has(name));
        const keys = files.flatMap((name) => keysIn.get(name) ?? []);
        if (keys.length === onPage.length && keys.every((key, at) => key === onPage[at])) return [];
        const isKnown = files.length > 0;
        // It may be an invalid embed, in any file if the page's is not known.
        if (isKnown ? files.some((name) => invalid.has(name)) : invalid.size > 0) return [];
        const found = isKnown ? countKeys(keys) : everywhere;
        return [...countKeys(onPage)].flatMap(([key, times]) => {
          const id = `${requests.get(key)?.id}`;
          const all = rendered.get(key) ?? 0;
          const shown = found.get(key) ?? 0;
          const wanted = isKnown ? times : pathname === containerPage ? all : 0;
          if ((everywhere.get(key) ?? 0) < all && shown > 0 && shown < wanted) {
            const message = `${files.join(', ') || pathname}: snippet ${id} was rendered ${wanted} times, but is in the output only ${shown === 1 ? 'once' : `${shown} times`}. What is made of text without tags, such as an excerpt, has no snippets.`;
            logger.warn(describeNote({ id, file: files[0], message }, search?.whereWritten));
          }
          const message = `Snippet ${id} was rendered here, but is not in the output.`;
          return shown > 0 ? [] : { file: pathname, code: 'embed-lost' as const, message, files, id };
        });
      });
    },
  };
}

/** Without the params that the site adds. */
const writtenKey = ({ request, written = request.key }: FileEmbed) => written;

function countKeys(keys: readonly string[]) {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
