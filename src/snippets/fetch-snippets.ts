import { cleanText } from '../client/clean-text.ts';
import { timerLength, unlessAborted } from '../client/clock.ts';
import { formatDuration } from '../client/format.ts';
import { SnippetError } from '../client/snippet-error.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import {
  type ErrorCode,
  effectOf,
  isMissing,
  isSnippetFailure,
  type SnippetFailure,
} from '../failures/errors.ts';
import {
  childrenWarnings,
  type FailedSnippet,
  type InvalidEmbed,
  listPlaces,
  type StaleSnippet,
  staleWarnings,
  throwFailures,
} from '../failures/report.ts';
import { applyRules, type PreparedSnippet } from '../html/rules.ts';
import type { RecordedImages, SiteImages } from '../images/site-images.ts';
import { defaultTimeout } from '../settings/options.ts';
import {
  hasConnection,
  type ImageSettings,
  isWithoutKey,
  requireConnection,
  type Settings,
  withoutKeyWarning,
} from '../settings/settings.ts';
import type { SnippetUse } from './file-embeds.ts';
import { openSource, type SnippetSource, type SourcedSnippet, type SourceOptions } from './source.ts';

/** A snippet that can be inlined, with what the service or the cache said about it. */
export interface FetchedSnippet extends SourcedSnippet, PreparedSnippet {}

/** By the keys of their requests. */
export type FetchedSnippets = ReadonlyMap<string, FetchedSnippet>;

/** What decides which rules apply to a snippet. */
export type ShownAs = Pick<SnippetUse, 'request' | 'asHtml'>;

export interface FetcherOptions extends SourceOptions {
  /** Whether an answer is used for the whole run. A dev server asks again instead. */
  remember: boolean;
  /** The images of the built site, if it is to be updated. */
  recordedImages?: RecordedImages | undefined;
  /** Called with the classes of each content. */
  onClasses?: ((names: readonly string[]) => void) | undefined;
}

export interface FetchOptions {
  signal?: AbortSignal | undefined;
  /** Invalid embeds, to be reported together with snippets that fail. */
  invalid?: readonly InvalidEmbed[] | undefined;
  /** Called after each snippet with the number that are done. */
  onSettled?: ((settled: number) => void) | undefined;
  /** Called with each snippet that does not exist, if all of its embeds are optional. */
  onMissing?: ((request: SnippetRequest) => void) | undefined;
}

// In milliseconds. Pages of a dev server are looked at again and again.
const imageRetry = 60_000;

/**
 * The one way to snippets, for builds, the dev server, collections and the command line: connects when the first
 * snippet is needed, makes each request once, reports all failures together, and warns.
 */
export class SnippetFetcher {
  readonly #settings: Settings;
  readonly #options: FetcherOptions;
  readonly #answers = new Map<string, Promise<SourcedSnippet>>();
  // When one request fails in a way that every request would, prefetching ends.
  readonly #prefetching = new AbortController();
  #source: SnippetSource | undefined;
  #showsChildren = false;
  #isRouteWarned = false;
  readonly #images: Promise<SiteImages> | undefined;
  /** By the answer, and by what decides which rules apply. */
  readonly #prepared = new WeakMap<SourcedSnippet, Map<boolean, Promise<PreparedSnippet>>>();
  /** How much of the time limit {@link prepare} has taken, in milliseconds. */
  #spent = 0;

  constructor(settings: Settings, options: FetcherOptions) {
    this.#settings = settings;
    this.#options = options;
    if (settings.images !== undefined) this.#images = openImages(settings, settings.images, options);
  }

  get counts(): SnippetSource['counts'] {
    return this.#source?.counts ?? { requests: 0, retries: 0, fallbacks: 0 };
  }

  /** Whether children are shown because there is no key. */
  get showsChildren(): boolean {
    return this.#showsChildren;
  }

  /** Starts a request before its snippet is needed. A failure is ignored: the request is made again when it is. */
  prefetch(request: SnippetRequest): void {
    if (!hasConnection(this.#settings) || this.#prefetching.signal.aborted) return;
    this.#ask(request, this.#prefetching.signal).catch((error) => {
      if (isSnippetFailure(error) && effectOf(error) === 'end') this.#prefetching.abort();
    });
  }

  /**
   * Prepares snippets before it is known whether a page shows them. A failure is ignored: the snippet is asked for again
   * when it is needed. The time counts for {@link fetch}.
   *
   * @returns those that failed.
   */
  async prepare(uses: readonly SnippetUse[]): Promise<FailedSnippet[]> {
    const start = performance.now();
    const get = (use: SnippetUse, signal: AbortSignal) => this.get(use, signal);
    const { failed } = await fetchAll(uses, get, { timeout: this.#settings.timeout });
    this.#spent += performance.now() - start;
    return failed;
  }

  /**
   * Fetches snippets, as many at a time as the settings allow. A failure does not keep the others from being fetched,
   * so that all failures are known at once; unless every request would fail the same way, as with an invalid key.
   *
   * @returns a snippet for each use, except for those whose children are shown.
   * @throws AstroError with one report of everything a build has to fail for.
   */
  async fetch(
    uses: readonly SnippetUse[],
    { signal, invalid = [], onSettled, onMissing }: FetchOptions = {},
  ): Promise<FetchedSnippets> {
    if (uses.length > 0 && isWithoutKey(this.#settings)) {
      throwFailures({ failed: [], notAsked: 0, embeds: invalid });
      if (!this.#showsChildren) this.#options.warn(withoutKeyWarning(this.#settings));
      this.#showsChildren = true;
      return new Map();
    }
    if (uses.length > 0 && !hasConnection(this.#settings)) {
      requireConnection(this.#settings, listPlaces(placesOf(uses)));
    }
    const get = (use: SnippetUse, either: AbortSignal) => this.get(use, either);
    const { fetched, failed, notAsked } = await fetchAll(uses, get, {
      signal,
      onSettled,
      timeout: this.#settings.timeout,
      spent: this.#spent,
    });
    throwFailures({ failed, notAsked, embeds: invalid });
    if (this.#options.remember) this.#keepStale(fetched);
    for (const { request, error } of failed) if (isMissing(error)) onMissing?.(request);
    const { warn } = this.#options;
    for (const warning of childrenWarnings(failed)) warn(warning);
    for (const warning of warningsOf(fetched, uses)) warn(warning);
    this.#warnOfRoute([...fetched.values()]);
    return fetched;
  }

  /**
   * Fetches one snippet and prepares it for pages.
   *
   * @throws SnippetError or SiteError
   */
  async get(shown: ShownAs, signal?: AbortSignal): Promise<FetchedSnippet> {
    const snippet = await this.#ask(shown.request, signal);
    const ready = await this.#applyRulesInTime(snippet, shown, signal);
    if (ready.classes !== undefined) this.#options.onClasses?.(ready.classes);
    return { ...snippet, ...ready };
  }

  /** A base URL that is wrong would go unnoticed: variant A has all snippets, too. */
  #warnOfRoute(fetched: readonly FetchedSnippet[]): void {
    const missing = this.#source?.routeMissing;
    if (missing === undefined || this.#isRouteWarned || fetched.length === 0) return;
    if (fetched.some(({ variant }) => variant === 'render')) return;
    this.#isRouteWarned = true;
    const { baseUrl, status } = missing;
    this.#options.warn(
      `No snippet was rendered: ${cleanText(baseUrl)} answers ${status} for every route. All were retrieved instead. Check the base URL of variant B (SNIPPETS_RENDER_BASE_URL).`,
    );
  }

  /** Closes connections. They are opened again when another snippet is needed. */
  async close(): Promise<void> {
    const source = this.#source;
    this.#source = undefined;
    await source?.close();
    await (await this.#images)?.close();
  }

  /** The bytes of an image of a snippet that was fetched, by its name in the folder of assets. */
  async readImage(file: string): Promise<Uint8Array | undefined> {
    return (await this.#images)?.read(file);
  }

  /** The rest of the run shows the same, even if the service responds again. */
  #keepStale(fetched: FetchedSnippets): void {
    for (const [key, snippet] of fetched) {
      if (snippet.error !== undefined) this.#answers.set(key, Promise.resolve(snippet));
    }
  }

  /** The last good content needs no service, so it is made ready after the time for all snippets too. */
  async #applyRulesInTime(
    snippet: SourcedSnippet,
    shown: ShownAs,
    signal: AbortSignal | undefined,
  ): Promise<PreparedSnippet> {
    const isLate = () => snippet.error !== undefined && isOutOfTime(signal);
    if (!isLate()) {
      try {
        return await unlessGivenUp(this.#applyRules(snippet, shown), shown.request, signal);
      } catch (error) {
        if (!isLate()) throw error;
      }
    }
    return this.#applyRulesNow(snippet.content, shown, { mayDownload: false });
  }

  #applyRules(snippet: SourcedSnippet, shown: ShownAs): Promise<PreparedSnippet> {
    // Elsewhere, nothing is prepared twice.
    if (!this.#settings.html.classes) return this.#applyRulesNow(snippet.content, shown);
    const known = this.#prepared.get(snippet) ?? new Map<boolean, Promise<PreparedSnippet>>();
    this.#prepared.set(snippet, known);
    const prepared = known.get(shown.asHtml) ?? this.#applyRulesNow(snippet.content, shown);
    known.set(shown.asHtml, prepared);
    return prepared;
  }

  async #applyRulesNow(
    content: string,
    { request, asHtml }: ShownAs,
    { mayDownload = true } = {},
  ): Promise<PreparedSnippet> {
    const images = await this.#images;
    const findImage = images && ((url: URL) => images.find(url, { mayDownload }));
    return applyRules({ content }, { request, asHtml }, { ...this.#settings.html, findImage });
  }

  async #ask(request: SnippetRequest, signal?: AbortSignal): Promise<SourcedSnippet> {
    const { key } = request;
    const asked = this.#answers.get(key);
    if (asked !== undefined) return this.#join(asked, request, signal);
    const answer = this.#open().fetch(request, signal);
    this.#answers.set(key, answer);
    const forget = () => {
      if (this.#answers.get(key) === answer) this.#answers.delete(key);
    };
    answer.then(this.#options.remember ? () => {} : forget, forget);
    return answer;
  }

  #open(): SnippetSource {
    this.#source ??= openSource(this.#settings, this.#options);
    return this.#source;
  }

  /** Waits for a request that was started by someone else. */
  async #join(
    asked: Promise<SourcedSnippet>,
    request: SnippetRequest,
    signal: AbortSignal | undefined,
  ): Promise<SourcedSnippet> {
    try {
      return await unlessGivenUp(asked, request, signal);
    } catch (error) {
      // Makes no request: only the cache can have it by now.
      if (isOutOfTime(signal)) return this.#open().fetch(request, signal);
      if (signal?.aborted) throw error;
      // Aborted by the caller that started it, not by this one.
      if (error instanceof SnippetError && error.code === 'aborted') return this.#ask(request, signal);
      throw error;
    }
  }
}

/** Whether the time for all snippets is over. */
function isOutOfTime(signal: AbortSignal | undefined): boolean {
  return signal?.reason instanceof SnippetError && signal.reason.code === 'timeout';
}

/** @throws SnippetError as soon as the caller aborts. */
async function unlessGivenUp<T>(
  work: Promise<T>,
  { id }: SnippetRequest,
  signal: AbortSignal | undefined,
): Promise<T> {
  try {
    return await (signal === undefined ? work : unlessAborted(signal, work));
  } catch (error) {
    if (!signal?.aborted || signal.reason instanceof SnippetError)
      throw signal?.aborted ? signal.reason : error;
    throw new SnippetError('aborted', 'the request was aborted.', { snippetId: id });
  }
}

/** Loaded only here: most sites leave images where they are. */
async function openImages(
  settings: Settings,
  images: ImageSettings,
  { remember, recordedImages }: FetcherOptions,
): Promise<SiteImages> {
  const { SiteImages } = await import('../images/site-images.ts');
  const retryAfter = remember ? undefined : imageRetry;
  return new SiteImages({ ...settings, ...images, recorded: recordedImages, retryAfter });
}

export interface Results {
  fetched: Map<string, FetchedSnippet>;
  failed: FailedSnippet[];
  /** Requests that were not made, because every one would have failed the same way. */
  notAsked: number;
}

type Get = (use: SnippetUse, signal: AbortSignal) => Promise<FetchedSnippet>;

interface FetchAllOptions extends Pick<FetchOptions, 'signal' | 'onSettled'> {
  /** For all snippets together, in milliseconds. */
  timeout?: number | undefined;
  /** How much of that is over already. */
  spent?: number | undefined;
}

/** Fetches snippets, until all have arrived or failed, or the rest would fail the same way, or the time is over. */
export async function fetchAll(
  uses: readonly SnippetUse[],
  get: Get,
  {
    signal = new AbortController().signal,
    onSettled = () => {},
    timeout = defaultTimeout,
    spent = 0,
  }: FetchAllOptions = {},
): Promise<Results> {
  const results: Results = { fetched: new Map(), failed: [], notAsked: 0 };
  const ended = new AbortController();
  const either = AbortSignal.any([signal, ended.signal]);
  const timer = setTimeout(() => ended.abort(outOfTime(timeout)), timerLength(timeout - spent));
  const isSetupWrong = watchSetup();
  let settled = 0;
  const outcomes = await Promise.all(
    uses.map(async (use) => {
      try {
        const snippet = await get(use, either);
        isSetupWrong(use.request.id, undefined);
        return { use, snippet };
      } catch (error) {
        if (!isSnippetFailure(error)) throw error;
        if (effectOf(error) === 'end' || isSetupWrong(use.request.id, error)) ended.abort();
        return { use, error };
      } finally {
        settled += 1;
        onSettled(settled);
      }
    }),
  ).finally(() => clearTimeout(timer));
  signal.throwIfAborted();
  // In the order of the uses, so that reports and records do not depend on timing.
  for (const { use, snippet, error } of outcomes) {
    if (snippet !== undefined) results.fetched.set(use.request.key, snippet);
    else if (error !== undefined && error.code !== 'aborted') results.failed.push({ ...use, error });
    else results.notAsked += 1;
  }
  return results;
}

function outOfTime(timeout: number): SnippetError {
  const limit = formatDuration(timeout, 'long');
  return new SnippetError('timeout', `not fetched within ${limit}, the limit for all snippets (\`timeout\`)`);
}

// What a wrong base URL, certificate authority or proxy leads to. One snippet may be an exception, many are not.
const setupFailures: ReadonlySet<ErrorCode> = new Set([
  'no-route',
  'redirect',
  'certificate',
  'invalid-options',
]);
const failuresAlike = 10;

/**
 * Watches for a wrong setup: the first snippets all fail in the same way, before any has arrived. The function it
 * returns takes each outcome, and says whether the rest would fail the same way.
 */
export function watchSetup(): (id: number, error: SnippetFailure | undefined) => boolean {
  const ids = new Set<number>();
  let code: ErrorCode | undefined;
  let isOther = false;
  return (id, error) => {
    if (error?.code === 'aborted') return false;
    code ??= error?.code;
    isOther ||= error === undefined || error.code !== code || !setupFailures.has(error.code);
    ids.add(id);
    return !isOther && ids.size >= failuresAlike;
  };
}

function placesOf(uses: readonly SnippetUse[]): string[] {
  return [...new Set(uses.flatMap(({ places }) => places))];
}

/** Warns about each snippet that is shown as it was, and each that has a flaw. */
export function warningsOf(fetched: FetchedSnippets, uses: readonly SnippetUse[]): string[] {
  const warnings = new Set<string>();
  const stale: StaleSnippet[] = [];
  for (const { request, places } of uses) {
    const snippet = fetched.get(request.key);
    if (snippet === undefined) continue;
    const { error, fetchedAt = 0 } = snippet;
    if (error !== undefined) stale.push({ request, error, places, age: Date.now() - fetchedAt });
    // With other params the same snippet has the same flaw, which is worth one warning per list of pages.
    for (const flaw of snippet.warnings) warnings.add(`${flaw} It is on ${listPlaces(places)}.`);
  }
  return [...staleWarnings(stale), ...warnings];
}
