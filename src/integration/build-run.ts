import type { SnippetRequest } from '../client/snippet-request.ts';
import type { CollectedSnippet } from '../inlining/generated-site.ts';
import { isWithoutKey, requireConnection } from '../settings/connection.ts';
import type { Environment, EnvironmentFiles } from '../settings/environment.ts';
import type { FetchedSnippets, SnippetCollection } from '../snippets/snippet-fetcher.ts';
import { Announcements } from './announcements.ts';
import { BuildOutput } from './build-output.ts';
import type { Site } from './site.ts';
import { type OpenedFetcher, SnippetSession } from './snippet-session.ts';

/**
 * The parts that all phases of a build share: the session, the output, and the snippets that are known before
 * pages are generated. `astro sync` counts as a build without phases, since it only loads collections.
 */
export class BuildRun {
  readonly site: Site;
  readonly session: SnippetSession;
  readonly output: BuildOutput;
  readonly announcements: Announcements;
  /** The names of integrations and plugins that may change files after snippets are inlined. */
  readonly laterIntegrations: string[];
  /** The snippets of the entries of content collections, by the name of the collection. */
  readonly #collections = new Map<string, CollectedSnippet[]>();
  /** The number of collections that are being fetched: Astro loads all of them at once. */
  #fetching = 0;

  constructor(site: Site, environment: Environment, files: EnvironmentFiles) {
    this.site = site;
    this.output = new BuildOutput(site);
    this.session = new SnippetSession(site, environment, files, {
      openFetcher: (session) => openBuildFetcher(session, this.output),
    });
    this.announcements = new Announcements(site.bridge, (request) => this.#prefetch(request));
    this.laterIntegrations = integrationsThatWrite(site);
  }

  /** The snippets of all collections. */
  get collected(): CollectedSnippet[] {
    return [...this.#collections.values()].flat();
  }

  /**
   * Whether there was no sign of an embed so far (one locks the output): no module mentions one, no page has
   * rendered one, and the last build left no record. The output may hold an embed nevertheless.
   */
  get mayBePlain(): boolean {
    return !this.output.isLocked && this.#collections.size === 0;
  }

  /** Fetches the snippets of a collection. @throws UserError with one report of all failures. */
  async fetchCollection(options: SnippetCollection): Promise<FetchedSnippets> {
    this.#fetching += 1;
    try {
      const snippets = await this.session.fetchCollection(options);
      this.#collections.set(options.collection, collectedFrom(options, snippets));
      return snippets;
    } finally {
      this.#fetching -= 1;
      // No pages follow in a sync, so the last collection closes the connections.
      if (this.site.command === 'sync' && this.#fetching === 0) await this.session.close();
    }
  }

  /** Locks the output at the first sign of an embed. @throws UserError if another build has the output. */
  async noteMention(): Promise<void> {
    if (this.site.command !== 'build') return;
    await this.output.lock();
    // If opening fails, the same error is reported when a page needs a snippet, so it is ignored here.
    this.session.open().catch(() => {});
  }

  /** @throws UserError if no base URL or key is set, unless the build may do without a key. */
  requireConnection(neededFor: string): void {
    const { settings } = this.session;
    if (!isWithoutKey(settings)) requireConnection(settings, neededFor);
  }

  /** Does the work of a phase. If that fails, notes why there is no record, and unlocks the output. */
  async attempt<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      await this.output.noteFailure(error as Error);
      await this.release();
      throw error;
    }
  }

  /** Closes connections and unlocks the output: at the end or, after a failure, before the next build. */
  async release(): Promise<void> {
    this.announcements.stop();
    await this.session.close().catch(() => {});
    await this.output.release();
  }

  /**
   * Fetches a snippet while pages render. Without a key or a base URL, nothing happens here: an error would fail the
   * page, and Astro prints an error of a page three times. The report after the last page names all that need one.
   */
  #prefetch(request: SnippetRequest) {
    // Nothing is prefetched then: the option `params` may depend on the page's language, not known yet.
    if (this.session.settings.params) return;
    // A request that fails is made again when the page needs its snippet.
    this.session
      .open()
      .then(({ fetcher }) => fetcher.prefetch(request))
      .catch(() => {});
  }
}

async function openBuildFetcher(session: SnippetSession, output: BuildOutput): Promise<OpenedFetcher> {
  // Lock the output before the record is read: until then, a refresh could write the record.
  if (session.site.command === 'build') await output.lock();
  const { SnippetFetcher } = await import('../snippets/snippet-fetcher.ts');
  const { readManifest } = await import('../record/manifest-file.ts');
  const { supersededBy } = await import('../record/manifest.ts');
  const { findEarlierPlaces } = await import('../record/changes.ts');
  // Later phases need these modules. Loading them while Astro bundles delays nothing.
  void import('./inline-output.ts').catch(() => {});
  void import('#transport').then(({ preloadTransport }) => preloadTransport()).catch(() => {});

  const { manifest: previousManifest } = await readManifest(output.manifestFile);
  const fetcher = new SnippetFetcher(session.settings, {
    warn: (line) => session.site.logger.warn(line),
    remember: true,
    isSuperseded: supersededBy(previousManifest),
    earlierPlaces: findEarlierPlaces(previousManifest),
    recordedNames: previousManifest?.names,
    asksForNames: session.settings.editLinks && session.site.command === 'build',
  });
  return { fetcher, previousManifest };
}

/** Lists the integrations whose hooks run after snippets are inlined. */
function integrationsThatWrite({ config }: Site): string[] {
  return config.integrations.flatMap(({ name, hooks }) => {
    const mayWrite = hooks['astro:build:generated'] ?? hooks['astro:build:done'];
    return mayWrite && !/^astro-snippets(:|$)/.test(name) ? name : [];
  });
}

function collectedFrom(options: SnippetCollection, snippets: FetchedSnippets): CollectedSnippet[] {
  return [...options.entries].flatMap(([entry, request]) => {
    const snippet = snippets.get(request.key);
    return snippet ? { collection: options.collection, entry, request, snippet } : [];
  });
}
