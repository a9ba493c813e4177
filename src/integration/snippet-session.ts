import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { consequenceOf } from '../failures/error-table.ts';
import { entryName } from '../failures/places.ts';
import type { Manifest } from '../record/manifest.ts';
import { hasConnection } from '../settings/connection.ts';
import type { Environment, EnvironmentFiles } from '../settings/environment.ts';
import { resolveSettings, type Settings } from '../settings/settings.ts';
import { hasPolicy } from '../settings/versions.ts';
import type {
  FetchedSnippet,
  FetchedSnippets,
  SnippetCollection,
  SnippetFetcher,
} from '../snippets/snippet-fetcher.ts';
import type { SnippetNames } from '../snippets/snippet-names.ts';
import type { SnippetUses } from '../snippets/snippet-use.ts';
import type { SourceSearch } from '../source/source-search.ts';
import type { Site } from './site.ts';

/** The fetcher of a build or dev server, and the record that was read when it was opened. */
export interface OpenedFetcher {
  fetcher: SnippetFetcher;
  /** The record of the last build, if there is one that this version can read. A dev server has none. */
  previousManifest: Manifest | undefined;
}

/** The parts of a session in which a dev server and a build differ. */
export interface SessionParts {
  /** Opens a fetcher: when a snippet is first needed, and again after the settings have changed. */
  openFetcher(session: SnippetSession): Promise<OpenedFetcher>;
  /** Called when classes of fetched snippets were added to the class file, which is to be written then. */
  onClasses?(): void;
}

/**
 * The settings of a dev server or a build, and one fetcher for its pages and collections. A session begins
 * when Vite reads the environment. Nothing is loaded or fetched until a snippet is needed.
 */
export class SnippetSession {
  readonly site: Site;
  readonly #parts: SessionParts;
  #settings: Settings;
  #environmentFiles: EnvironmentFiles;
  /** The variables that the settings were made from, as JSON. */
  #variables: string;
  /** The fetcher, opened or being opened; `undefined` until a snippet is needed. */
  #opened: Promise<OpenedFetcher> | undefined;
  /** The names that the last fetcher knows. */
  #names: SnippetNames | undefined;

  /** @throws UserError if a variable is malformed. */
  constructor(site: Site, environment: Environment, files: EnvironmentFiles, parts: SessionParts) {
    this.site = site;
    this.#parts = parts;
    this.#environmentFiles = this.#withRelativePath(files);
    this.#settings = this.#resolveSettings(environment);
    this.#variables = JSON.stringify(environment);
  }

  get settings(): Settings {
    return this.#settings;
  }

  /** The mode and folder of `.env` files, relative to the project, so that both can be moved together. */
  get environmentFiles(): EnvironmentFiles {
    return this.#environmentFiles;
  }

  /** Vite reads the environment several times in a build, and again when a `.env` file changes in dev. */
  updateEnvironment(environment: Environment, files: EnvironmentFiles): void {
    this.#environmentFiles = this.#withRelativePath(files);
    const variables = JSON.stringify(environment);
    if (variables === this.#variables) return;

    this.#settings = this.#resolveSettings(environment);
    this.#variables = variables;
    this.close().catch(() => {});
  }

  /** The name that people gave a snippet, if it is known by now. */
  nameOf(id: number): string | undefined {
    return this.#names?.of(id);
  }

  /** Opens the fetcher that pages and collections share. */
  open(): Promise<OpenedFetcher> {
    this.#opened ??= this.#parts.openFetcher(this).then((opened) => {
      this.#names = opened.fetcher.names;
      return opened;
    });
    return this.#opened;
  }

  /** Closes the fetcher. The next call of `open` opens another. */
  async close(): Promise<void> {
    const opened = this.#opened;
    // Clear the field first, so that a fetcher opened during close survives.
    this.#opened = undefined;
    await (await opened)?.fetcher.close();
  }

  /** Fetches the snippets of a collection. @throws UserError with one report of all failures. */
  async fetchCollection({ collection, entries }: SnippetCollection): Promise<FetchedSnippets> {
    const { addUse } = await import('../snippets/snippet-use.ts');
    const uses: SnippetUses = new Map();
    for (const [entry, request] of entries) addUse(uses, request, entryName({ collection, entry }));

    const placeOf = (await this.openSearch()).whereWritten;
    const { fetcher } = await this.open();
    const snippets = await fetcher.fetch([...uses.values()], { placeOf });
    this.noteClasses(snippets.values());
    return snippets;
  }

  /** Makes the search for where embeds are written. Its code is only loaded for sites with snippets. */
  async openSearch(): Promise<SourceSearch> {
    const { SourceSearch } = await import('../source/source-search.ts');
    return new SourceSearch(this.site.sources);
  }

  /** Adds the classes of fetched snippets to the class file, without writing it. */
  noteClasses(snippets: Iterable<FetchedSnippet>): void {
    for (const { classes } of snippets) this.site.classes?.add(classes ?? []);
    this.#parts.onClasses?.();
  }

  /**
   * Fetches the snippets that pages may show, so that CSS is made for their classes before pages are
   * rendered. A snippet that the service cannot send keeps its classes; without a key, the file stays.
   */
  async prepareClasses(): Promise<void> {
    const { classes } = this.site;
    if (!classes || !hasConnection(this.#settings)) return;

    const { fetcher, previousManifest } = await this.open();
    const { addUse } = await import('../snippets/snippet-use.ts');
    // With the option `params`, the requests of embeds in the source are not known before pages are.
    const writtenRequests = this.#settings.params ? [] : (await this.openSearch()).literalRequests();
    const previousSnippets = previousManifest?.snippets ?? [];
    const uses: SnippetUses = new Map();
    for (const request of [...previousSnippets, ...writtenRequests]) addUse(uses, request, '');

    const { fetched, failed } = await fetcher.prepare([...uses.values()]);
    this.noteClasses(fetched.values());
    const outages = failed.filter(({ error }) => consequenceOf(error) === 'children');
    const missedKeys = new Set(outages.map(({ request }) => request.key));
    for (const { key, content } of previousSnippets) {
      if (missedKeys.has(key)) classes.add(content?.classes ?? []);
    }
    classes.write();
  }

  #withRelativePath({ mode, directory }: EnvironmentFiles): EnvironmentFiles {
    return { mode, directory: directory && relative(this.site.sources.folders.root, directory) };
  }

  #resolveSettings(environment: Environment): Settings {
    const { command, options, config, urls } = this.site;
    const { base, build } = config;
    return resolveSettings(options, environment, {
      cacheDirectory: fileURLToPath(config.cacheDir),
      hasPolicy: hasPolicy(config),
      urls,
      // A dev server serves images itself, as it does with Astro's own.
      assets: { folder: build.assets, prefix: command === 'dev' ? base : (build.assetsPrefix ?? base) },
    });
  }
}
