import type { SnippetRequest } from '../client/snippet-request.ts';
import { type PreparedSnippet, prepareSnippet, type SnippetDisplay } from '../content/prepare-snippet.ts';
import type { EarlierPlaces, FailedSnippet } from '../failures/describe-failures.ts';
import type { InvalidEmbed, PlaceOf } from '../failures/embed-notes.ts';
import { isSnippetFailure } from '../failures/errors.ts';
import { throwFailures } from '../failures/failure-report.ts';
import { failureWarnings, flawWarnings, staleWarnings } from '../failures/failure-warnings.ts';
import { listPlaces } from '../failures/places.ts';
import { warningLines } from '../failures/snippet-warning.ts';
import type { RecordedImages, SiteImages } from '../images/site-images.ts';
import { isWithoutKey, requireConnection, withoutKeyWarning } from '../settings/connection.ts';
import type { Settings } from '../settings/settings.ts';
import { type Answer, AnswerSource, type AnswerSourceOptions } from './answers.ts';
import { NameSearch } from './name-search.ts';
import { type RecordedNames, SnippetNames } from './snippet-names.ts';
import { displayKey, type SnippetUse } from './snippet-use.ts';
import { TimeLimit } from './time-limit.ts';

/** An answer of the service, with its content prepared for pages. */
export interface FetchedSnippet extends Answer, PreparedSnippet {
  /** The name of the snippet, as the service has sent it in this run or an earlier one. */
  knownName?: string | undefined;
}

/** Snippets by the keys of their requests. */
export type FetchedSnippets = ReadonlyMap<string, FetchedSnippet>;

/** Which snippets of a run were fetched, and which were not. */
export interface FetchResults {
  fetched: Map<string, FetchedSnippet>;
  failed: FailedSnippet[];
  /** The number of snippets not asked for after an error, such as a wrong key, that all would share. */
  notAsked: number;
}

/** How a fetcher asks the service, and what an earlier run has found. */
export interface FetcherOptions extends AnswerSourceOptions {
  /** The images of the last run, so that their hosts are only asked whether they have changed. */
  recordedImages?: RecordedImages;
  /** Where the last build has shown a snippet, for the report of one that is gone. */
  earlierPlaces?: EarlierPlaces;
  /** The names of snippets that are on record. */
  recordedNames?: RecordedNames | undefined;
  /** Whether names that are not known are asked for, as people see them. @default false */
  asksForNames?: boolean;
}

/** How one call of `fetch` can be ended, shows its progress, and is reported. */
export interface FetchOptions {
  /** Ends the call. Snippets that have not arrived by then count as not asked for. */
  signal?: AbortSignal | undefined;
  /** Called after each snippet with the number of those that have arrived or failed. */
  onSettled?: (settled: number) => void;
  /** Invalid embeds, which the report names together with the snippets that failed. */
  invalid?: readonly InvalidEmbed[];
  /** Where the source of the site has an embed, for reports and warnings. */
  placeOf?: PlaceOf | undefined;
}

/** A content collection whose entries are snippets. */
export interface SnippetCollection {
  collection: string;
  /** The requests of the snippets, by the ids of their entries. */
  entries: ReadonlyMap<string, SnippetRequest>;
}

/** Fetches a collection for its loader. A loader runs in the site's code, so it must not have the API key. */
export type FetchHook = (collection: SnippetCollection) => Promise<FetchedSnippets>;

/**
 * Fetches the snippets of a run: gets an answer for each, applies the site's rules to its content, and
 * reports all failures together.
 */
export class SnippetFetcher {
  readonly #settings: Settings;
  readonly #options: FetcherOptions;
  readonly #images: Promise<SiteImages> | undefined;
  /** Prepared answers, by how they are displayed, so that each answer is prepared once for each display. */
  readonly #prepared = new Map<string, WeakMap<Answer, Promise<FetchedSnippet>>>();
  readonly answers: AnswerSource;
  readonly names: SnippetNames;
  readonly #nameSearch: NameSearch | undefined;
  /** Whether embeds show their children because there is no API key. */
  showsChildren = false;
  /** The keys of optional snippets that do not exist. */
  readonly missing: Set<string> = new Set<string>();
  /** How much of the time limit (the option `timeout`) `prepare` has used, in milliseconds. */
  #spent = 0;

  constructor(settings: Settings, options: FetcherOptions) {
    this.#settings = settings;
    this.#options = options;
    this.answers = new AnswerSource(settings, options);
    this.names = new SnippetNames(options.recordedNames);
    if (options.asksForNames) this.#nameSearch = new NameSearch(settings, this.names, options.parts);
    if (!settings.images) return;
    const imageOptions = { ...settings, ...settings.images, recorded: options.recordedImages };
    // Imported only if needed, as most sites do not copy the images of snippets.
    this.#images = import('../images/site-images.ts').then((module) => new module.SiteImages(imageOptions));
  }

  /**
   * Fetches snippets for pages, and prints warnings about them. After a failure the others are fetched
   * nevertheless, for one report of all failures; unless each would fail the same way, as with a wrong key.
   *
   * @returns the snippets by the keys of their requests, without those whose embeds show their children
   * @throws UserError with one report of all failures
   */
  async fetch(uses: readonly SnippetUse[], options: FetchOptions = {}): Promise<FetchedSnippets> {
    const { invalid = [], placeOf } = options;
    const showsChildren = uses.length > 0 && isWithoutKey(this.#settings);
    if (uses.length > 0 && !showsChildren) {
      const places = new Set(uses.flatMap((use) => use.places));
      requireConnection(this.#settings, listPlaces([...places]));
    }

    const { fetched, failed, notAsked } = await this.#fetchAll(showsChildren ? [] : uses, options);
    const { earlierPlaces } = this.#options;
    const report = { failed, notAsked, embeds: invalid, placeOf, earlierPlaces };
    throwFailures({ ...report, settings: this.#settings });
    for (const { request, error } of failed) {
      if (error.code === 'not-found') this.missing.add(request.key);
    }

    const warnings = [
      ...(showsChildren && !this.showsChildren ? [withoutKeyWarning(this.#settings)] : []),
      ...failureWarnings(failed, placeOf),
      ...staleWarnings(fetched, uses, placeOf),
      ...warningLines(flawWarnings(fetched, uses), placeOf),
      ...this.answers.routeWarnings(fetched.values()),
    ];
    this.showsChildren ||= showsChildren;
    for (const line of warnings) this.#options.warn(line);
    return fetched;
  }

  /** Fetches snippets that pages may show. One that fails is asked for again when a page needs it. */
  async prepare(uses: readonly SnippetUse[]): Promise<FetchResults> {
    const start = performance.now();
    try {
      return await this.#fetchAll(uses);
    } finally {
      this.#spent += performance.now() - start;
    }
  }

  /** Asks for a snippet before it is needed. If that fails, it is asked for again once it is needed. */
  prefetch(request: SnippetRequest): void {
    this.#nameSearch?.ask(request.id);
    this.answers.prefetch(request);
  }

  /** Gets one snippet. @throws SnippetError or SiteError */
  async get(display: SnippetDisplay): Promise<FetchedSnippet> {
    this.#nameSearch?.ask(display.request.id);
    const answer = await this.answers.get(display.request);
    this.names.note(display.request.id, answer.name);
    const key = displayKey(display);
    const preparedAnswers = this.#prepared.get(key) ?? new WeakMap<Answer, Promise<FetchedSnippet>>();
    this.#prepared.set(key, preparedAnswers);
    const prepared = preparedAnswers.get(answer) ?? this.#applyRules(answer, display);
    preparedAnswers.set(answer, prepared);
    return prepared;
  }

  /** Reads an image from the cache. @param file its name in the folder of assets */
  async readImage(file: string): Promise<Uint8Array | undefined> {
    return (await this.#images)?.read(file);
  }

  /** Warns of hosts in the option `images` that no image is on, once all snippets are fetched. */
  async hostWarnings(): Promise<string[]> {
    return (await this.#images)?.hostWarnings() ?? [];
  }

  /** Closes the connections. They are opened again when another snippet is needed. */
  async close(): Promise<void> {
    await this.#nameSearch?.close();
    await this.answers.close();
    await (await this.#images)?.close();
  }

  async #fetchAll(uses: readonly SnippetUse[], options: FetchOptions = {}): Promise<FetchResults> {
    const limit = new TimeLimit(this.#settings.timeout, this.#spent, options.signal);
    let settled = 0;
    const fetchUse = async (use: SnippetUse) => {
      try {
        return { use, snippet: await this.#getWithin(limit, use) };
      } catch (error) {
        if (!isSnippetFailure(error)) throw error;
        return { use, error };
      } finally {
        settled += 1;
        options.onSettled?.(settled);
      }
    };
    const outcomes = await Promise.all(uses.map(fetchUse)).finally(() => limit.stop());

    const results: FetchResults = { fetched: new Map(), failed: [], notAsked: 0 };
    // Outcomes are in the order of the uses: reports and records must not depend on timing.
    for (const { use, snippet, error } of outcomes) {
      if (snippet) results.fetched.set(use.request.key, snippet);
      else if (error.code === 'aborted') results.notAsked += 1;
      else results.failed.push({ ...use, error, name: this.names.of(use.request.id) });
    }
    return results;
  }

  /** Gets a snippet; once the time limit is over, its last good content. */
  async #getWithin(limit: TimeLimit, display: SnippetDisplay): Promise<FetchedSnippet> {
    try {
      return await Promise.race([this.get(display), limit.ended]);
    } catch (error) {
      if (!limit.isTimeout(error)) throw error;
      const answer = await this.answers.staleAnswer(display.request, error);
      return this.#applyRules(answer, display, false);
    }
  }

  /** @param mayDownload `false` if no time is left to download images */
  async #applyRules(answer: Answer, display: SnippetDisplay, mayDownload = true): Promise<FetchedSnippet> {
    const images = await this.#images;
    const findImage = images && ((url: URL) => images.find(url, { mayDownload }));
    const knownName = this.names.of(display.request.id);
    const named = { content: answer.content, name: knownName };
    const prepared = await prepareSnippet(named, display, { ...this.#settings, findImage });
    return { ...answer, ...prepared, knownName };
  }
}
