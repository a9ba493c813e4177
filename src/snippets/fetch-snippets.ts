import { timerLength, unlessAborted } from '../client/clock.ts';
import { formatDuration } from '../client/format.ts';
import { SnippetError } from '../client/snippet-error.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { isMissing, isSnippetFailure } from '../failures/errors.ts';
import {
  childrenWarnings,
  type FailedSnippet,
  type Failures,
  listPlaces,
  shownWarnings,
  throwFailures,
} from '../failures/report.ts';
import { applyRules, type PreparedSnippet } from '../html/rules.ts';
import type { RecordedImages, SiteImages } from '../images/site-images.ts';
import {
  hasConnection,
  type ImageSettings,
  isWithoutKey,
  requireConnection,
  type Settings,
  withoutKeyWarning,
} from '../settings/settings.ts';
import { type Answer, type AnswerCounts, Answers, type AnswersOptions } from './answers.ts';
import type { SnippetUse } from './file-embeds.ts';

/** A snippet that can be inlined, with what the service or the cache said about it. */
export interface FetchedSnippet extends Answer, PreparedSnippet {}

/** By the keys of their requests. */
export type FetchedSnippets = ReadonlyMap<string, FetchedSnippet>;

/** What decides which rules apply to a snippet. */
export type ShownAs = Pick<SnippetUse, 'request' | 'asHtml'>;

export interface FetcherOptions extends AnswersOptions {
  /** The images of the built site, if it is to be updated. */
  recordedImages?: RecordedImages | undefined;
}

export interface FetchOptions extends Pick<Failures, 'placeOf'> {
  signal?: AbortSignal | undefined;
  /** Invalid embeds, to be reported together with snippets that fail. */
  invalid?: Failures['embeds'] | undefined;
  /** Called after each snippet with the number that are done. */
  onSettled?: ((settled: number) => void) | undefined;
}

/**
 * A hook of the integration that fetches the snippets of a collection. Astro loads a loader together with the site's code;
 * the key, and the client that uses it, stay with the integration.
 */
export type FetchHook = (options: {
  collection: string;
  /** By the ids of the entries. */
  entries: ReadonlyMap<string, SnippetRequest>;
}) => Promise<FetchedSnippets>;

declare global {
  namespace Astro {
    interface IntegrationHooks {
      'astro-snippets:fetch'?: FetchHook;
    }
  }
}

interface Results extends Pick<Failures, 'notAsked'> {
  fetched: Map<string, FetchedSnippet>;
  failed: FailedSnippet[];
}

/** The one way to snippets: makes each request once, applies the rules, reports all failures together, and warns. */
export class SnippetFetcher {
  readonly #settings: Settings;
  readonly #options: FetcherOptions;
  readonly #answers: Answers;
  readonly #images: Promise<SiteImages> | undefined;
  readonly #prepared = {
    html: new WeakMap<Answer, Promise<PreparedSnippet>>(),
    text: new WeakMap<Answer, Promise<PreparedSnippet>>(),
  };
  /** Whether children are shown because there is no key. */
  showsChildren = false;
  /** The keys of optional snippets that do not exist. */
  readonly missing = new Set<string>();
  /** How much of the time limit {@link prepare} has taken, in milliseconds. */
  #spent = 0;

  constructor(settings: Settings, options: FetcherOptions) {
    this.#settings = settings;
    this.#options = options;
    this.#answers = new Answers(settings, options);
    if (settings.images !== undefined) this.#images = openImages(settings, settings.images, options);
  }

  get counts(): AnswerCounts {
    return this.#answers.counts;
  }

  /** Starts a request before its snippet is needed. A failure is ignored: the request is made again when it is. */
  prefetch(request: SnippetRequest): void {
    this.#answers.prefetch(request);
  }

  /** Fetches snippets that a page may show. Those that fail are asked for again when one does. */
  async prepare(uses: readonly SnippetUse[]): Promise<Results> {
    const start = performance.now();
    const results = await this.#fetchAll(uses);
    this.#spent += performance.now() - start;
    return results;
  }

  /**
   * Fetches snippets. A failure does not keep the others from being fetched, so that all failures are known at once;
   * unless every request would fail the same way, as with an invalid key.
   *
   * @returns a snippet for each use, except for those whose children are shown.
   * @throws AstroError with one report of everything a build has to fail for.
   */
  async fetch(
    uses: readonly SnippetUse[],
    { invalid = [], placeOf, ...options }: FetchOptions = {},
  ): Promise<FetchedSnippets> {
    const { warn } = this.#options;
    const showsChildren = uses.length > 0 && isWithoutKey(this.#settings);
    if (uses.length > 0 && !showsChildren && !hasConnection(this.#settings)) {
      const places = new Set(uses.flatMap((use) => use.places));
      requireConnection(this.#settings, listPlaces([...places]));
    }
    const { fetched, failed, notAsked } = await this.#fetchAll(showsChildren ? [] : uses, options);
    throwFailures({ failed, notAsked, embeds: invalid, placeOf });
    if (showsChildren && !this.showsChildren) warn(withoutKeyWarning(this.#settings));
    this.showsChildren ||= showsChildren;
    for (const { request, error } of failed) if (isMissing(error)) this.missing.add(request.key);
    const route = this.#answers.routeWarnings(fetched.values());
    const children = childrenWarnings(failed, placeOf);
    for (const line of [...children, ...shownWarnings(fetched, uses, placeOf), ...route]) warn(line);
    return fetched;
  }

  /** Fetches one snippet and prepares it for pages. @throws SnippetError or SiteError. */
  async get(shown: ShownAs): Promise<FetchedSnippet> {
    const answer = await this.#answers.get(shown.request);
    const known = this.#prepared[shown.asHtml ? 'html' : 'text'];
    const prepared = known.get(answer) ?? this.#applyRules(answer, shown);
    known.set(answer, prepared);
    return { ...answer, ...(await prepared) };
  }

  /** The bytes of an image, by its name in the folder of assets. */
  async readImage(file: string): Promise<Uint8Array | undefined> {
    return (await this.#images)?.read(file);
  }

  /** Closes connections. They are opened again when another snippet is needed. */
  async close(): Promise<void> {
    await this.#answers.close();
    await (await this.#images)?.close();
  }

  /** Until all have arrived or failed, or the time for all of them is over. */
  async #fetchAll(uses: readonly SnippetUse[], { signal, onSettled }: FetchOptions = {}): Promise<Results> {
    const { timeout } = this.#settings;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(outOfTime(timeout)), timerLength(timeout - this.#spent));
    const either = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]);
    let settled = 0;
    const get = async (use: SnippetUse) => {
      try {
        const snippet = await unlessAborted(either, this.get(use)).catch((error) => {
          if (error !== late.signal.reason) throw error;
          return this.#lastGood(use, error);
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
    const outcomes = await Promise.all(uses.map(get)).finally(() => clearTimeout(timer));
    const results: Results = { fetched: new Map(), failed: [], notAsked: 0 };
    // In the order of the uses, so that reports and records do not depend on timing.
    for (const { use, snippet, error } of outcomes) {
      if (snippet !== undefined) results.fetched.set(use.request.key, snippet);
      else if (error.code === 'aborted') results.notAsked += 1;
      else results.failed.push({ ...use, error });
    }
    return results;
  }

  /** The last good content, when there is no time left. @throws `error` if there is none. */
  async #lastGood(shown: ShownAs, error: SnippetError): Promise<FetchedSnippet> {
    const answer = await this.#answers.lastGood(shown.request, error);
    if (answer === undefined) throw error;
    return { ...answer, ...(await this.#applyRules(answer, shown, { mayDownload: false })) };
  }

  async #applyRules(answer: Answer, shown: ShownAs, { mayDownload = true } = {}): Promise<PreparedSnippet> {
    const images = await this.#images;
    const findImage = images && ((url: URL) => images.find(url, { mayDownload }));
    return applyRules(answer, shown, { ...this.#settings.html, findImage });
  }
}

/** Loaded only here: most sites leave images where they are. */
async function openImages(
  settings: Settings,
  images: ImageSettings,
  { recordedImages: recorded }: FetcherOptions,
): Promise<SiteImages> {
  const { SiteImages } = await import('../images/site-images.ts');
  return new SiteImages({ ...settings, ...images, recorded });
}

function outOfTime(timeout: number): SnippetError {
  const limit = formatDuration(timeout, 'long');
  return new SnippetError('timeout', `not fetched within ${limit}, the limit for all snippets (\`timeout\`)`);
}
