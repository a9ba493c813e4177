import { timerLength, unlessAborted } from '../client/clock.ts';
import { SnippetError } from '../client/snippet-error.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { type PreparedSnippet, prepareSnippet } from '../content/prepare-snippet.ts';
import type { FailedSnippet } from '../failures/describe-failures.ts';
import { isSnippetFailure } from '../failures/errors.ts';
import { type Failures, throwFailures } from '../failures/failure-report.ts';
import { failureWarnings, shownWarnings } from '../failures/failure-warnings.ts';
import { listPlaces } from '../failures/places.ts';
import type { SiteImages } from '../images/site-images.ts';
import { isWithoutKey, requireConnection, withoutKeyWarning } from '../settings/connection.ts';
import type { Settings } from '../settings/settings.ts';
import { formatDuration } from '../text/format.ts';
import { type Answer, type FetcherOptions, openAnswers } from './answers.ts';
import type { SnippetUse } from './snippet-use.ts';

/** An answer as pages show it. */
export interface FetchedSnippet extends Answer, PreparedSnippet {}

/** By the keys of their requests. */
export type FetchedSnippets = ReadonlyMap<string, FetchedSnippet>;

export type ShownAs = Pick<SnippetUse, 'request' | 'asHtml'>;

export interface FetchOptions extends Pick<Failures, 'placeOf'> {
  signal?: AbortSignal | undefined;
  invalid?: Failures['embeds'];
  onSettled?: (settled: number) => void;
}

/** Fetches a collection. Its loader, the site's code, never gets the key. */
export type FetchHook = (options: {
  collection: string;
  entries: ReadonlyMap<string, SnippetRequest>;
}) => Promise<FetchedSnippets>;

/** Fetches snippets, applies the rules, and reports all failures together. */
export class SnippetFetcher {
  readonly #settings: Settings;
  readonly #options: FetcherOptions;
  readonly answers: ReturnType<typeof openAnswers>;
  readonly #images: Promise<SiteImages> | undefined;
  readonly #prepared = {
    html: new WeakMap<Answer, Promise<FetchedSnippet>>(),
    text: new WeakMap<Answer, Promise<FetchedSnippet>>(),
  };
  /** Whether children are shown, without a key. */
  showsChildren = false;
  /** The keys of optional snippets that do not exist. */
  readonly missing: Set<string> = new Set<string>();
  /** What `prepare` has taken of the time limit, in milliseconds. */
  #spent = 0;

  constructor(settings: Settings, options: FetcherOptions) {
    this.#settings = settings;
    this.#options = options;
    this.answers = openAnswers(settings, options);
    if (!settings.images) return;
    const imageOptions = { ...settings, ...settings.images, recorded: options.recordedImages };
    // Most sites leave images where they are.
    this.#images = import('../images/site-images.ts').then((module) => new module.SiteImages(imageOptions));
  }

  /** For snippets that pages may show. Those that fail are asked for again when one does. */
  prepare(uses: readonly SnippetUse[]): Promise<{
    fetched: Map<string, FetchedSnippet>;
    failed: FailedSnippet[];
    notAsked: number;
  }> {
    const start = performance.now();
    return this.#fetchAll(uses).finally(() => {
      this.#spent += performance.now() - start;
    });
  }

  /** After a failure, fetches the rest, unless each would fail the same way. @throws AstroError with one report of all. */
  async fetch(
    uses: readonly SnippetUse[],
    { invalid = [], placeOf, ...options }: FetchOptions = {},
  ): Promise<FetchedSnippets> {
    const showsChildren = uses.length > 0 && isWithoutKey(this.#settings);
    if (uses.length > 0 && !showsChildren) {
      const places = new Set(uses.flatMap((use) => use.places));
      requireConnection(this.#settings, listPlaces([...places]));
    }
    const { fetched, failed, notAsked } = await this.#fetchAll(showsChildren ? [] : uses, options);
    throwFailures({ failed, notAsked, embeds: invalid, placeOf });
    for (const { request, error } of failed) if (error.code === 'not-found') this.missing.add(request.key);
    const warnings = [
      ...(showsChildren && !this.showsChildren ? [withoutKeyWarning(this.#settings)] : []),
      ...failureWarnings(failed, placeOf),
      ...shownWarnings(fetched, uses, placeOf),
      ...this.answers.routeWarnings(fetched.values()),
    ];
    this.showsChildren ||= showsChildren;
    for (const line of warnings) this.#options.warn(line);
    return fetched;
  }

  async get(shown: ShownAs): Promise<FetchedSnippet> {
    const answer = await this.answers.get(shown.request);
    const known = this.#prepared[shown.asHtml ? 'html' : 'text'];
    const prepared = known.get(answer) ?? this.#applyRules(answer, shown);
    known.set(answer, prepared);
    return prepared;
  }

  async readImage(file: string): Promise<Uint8Array<ArrayBufferLike> | undefined> {
    return (await this.#images)?.read(file);
  }

  /** It opens again when another snippet is needed. */
  async close(): Promise<void> {
    await this.answers.close();
    await (await this.#images)?.close();
  }

  async #fetchAll(uses: readonly SnippetUse[], { signal, onSettled }: FetchOptions = {}) {
    const { timeout } = this.#settings;
    const late = new AbortController();
    const reason = `not fetched within ${formatDuration(timeout, 'long')}, the limit for all snippets (\`timeout\`)`;
    const end = () => late.abort(new SnippetError('timeout', reason));
    const timer = setTimeout(end, timerLength(timeout - this.#spent));
    const either = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
    // One for all: a thousand listeners are slow.
    const ended = unlessAborted(either, new Promise<never>(() => {}));
    ended.catch(() => {});
    let settled = 0;
    const get = async (use: SnippetUse) => {
      try {
        const snippet = await Promise.race([this.get(use), ended]).catch(async (error) => {
          if (error !== late.signal.reason) throw error;
          const answer = await this.answers.lastGood(use.request, error);
          return this.#applyRules(answer, use, { mayDownload: false });
        });
        return { use, snippet };
      } catch (error) {
        if (!isSnippetFailure(error)) throw error;
        return { use, error };
      } finally {
        settled += 1;
        onSettled?.(settled);
      }
    };
    const outcomes = await Promise.all(uses.map(get)).finally(() => {
      clearTimeout(timer);
      // A watch would keep the listener, with all answers.
      late.abort();
    });
    const fetched = new Map<string, FetchedSnippet>();
    const failed: FailedSnippet[] = [];
    let notAsked = 0;
    // In the order of the uses: reports and records must not depend on timing.
    for (const { use, snippet, error } of outcomes) {
      if (snippet) fetched.set(use.request.key, snippet);
      else if (error.code === 'aborted') notAsked += 1;
      else failed.push({ ...use, error });
    }
    return { fetched, failed, notAsked };
  }

  async #applyRules(answer: Answer, shown: ShownAs, { mayDownload = true } = {}) {
    const images = await this.#images;
    const findImage = images && ((url: URL) => images.find(url, { mayDownload }));
    return { ...answer, ...(await prepareSnippet(answer, shown, { ...this.#settings, findImage })) };
  }
}
