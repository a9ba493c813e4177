import type { Counts, Notice } from '../client/scheduling/notice.ts';
import { type ClientParts, type Snippet, SnippetClient } from '../client/snippet-client.ts';
import { SnippetError } from '../client/snippet-error.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { consequenceOf } from '../failures/error-table.ts';
import { isSnippetFailure, SiteError } from '../failures/errors.ts';
import { hasConnection, requireConnection } from '../settings/connection.ts';
import type { Settings } from '../settings/settings.ts';
import { environmentVariables } from '../settings/variable-names.ts';
import { cleanText } from '../text/clean-text.ts';
import { formatDuration } from '../text/format.ts';
import { AnswerCache, type KeptAnswer } from './answer-cache.ts';

/** What the service sent for a snippet, in this run or in an earlier one. */
export interface Answer extends Snippet {
  /** When the service sent a cached answer, in milliseconds since the epoch; `undefined` if not cached. */
  fetchedAt?: number | undefined;
  /** Why the service did not send the snippet in this run, so that the content is the last good one. */
  error?: SnippetError | undefined;
}

/** How a run uses the answers that earlier runs kept in the cache. */
export interface CachePolicy {
  /** Whether the service is asked even if the cached answer is young enough. @default false */
  alwaysAsk?: boolean;
  /** Whether the site has shown newer content than this cached answer. @default none is superseded */
  isSuperseded?: ((request: SnippetRequest, answer: KeptAnswer) => boolean) | undefined;
  /** Whether new content is written to the cache for later runs. @default all content is */
  isWorthKeeping?: (request: SnippetRequest, content: string) => boolean;
}

/** How a source of answers reports, and how long it tries. */
export interface AnswerSourceOptions extends CachePolicy {
  /** Called with each warning, a text of one or more lines. */
  warn(line: string): void;
  /** Called with news of the service, such as that it asks to wait. @default `warn` */
  notify?(line: string): void;
  /** Whether an answer is used for the whole run. In a dev server, each use asks again. */
  remember: boolean;
  /** How long to try a service that does not answer, in milliseconds; at most the settings' own patience. */
  patience?: number | undefined;
  /** Replaces parts of the client, such as its clock. */
  parts?: ClientParts;
}

export interface AnswerCounts extends Counts {
  /** How often a cached answer was used instead of a request, or after one failed. */
  cached: number;
}

/**
 * Answers requests for snippets: asks the service for each once, unless the cache has an answer that is good
 * enough. While the service fails, the last good content is used, if the setting `staleIfError` allows it.
 */
export class AnswerSource {
  readonly #settings: Settings;
  readonly #options: AnswerSourceOptions;
  /** Answers and requests in progress, by the keys of the requests. */
  readonly #asked = new Map<string, Promise<Answer>>();
  /** Opened by the first request, and again by the next one after `close`; without `cache` if that is off. */
  #connection: { client: SnippetClient; cache: AnswerCache | undefined } | undefined;
  #cached = 0;
  #hasRouteWarning = false;
  /** Whether every further request would fail the same way, as with an invalid key. */
  #isHopeless = false;

  constructor(settings: Settings, options: AnswerSourceOptions) {
    this.#settings = settings;
    this.#options = options;
  }

  get counts(): AnswerCounts {
    const { counts } = this.#connection?.client ?? {};
    return { requests: 0, retries: 0, fallbacks: 0, ...counts, cached: this.#cached };
  }

  /** @throws SnippetError or SiteError `not-cached`. After that, a later call makes a new request. */
  get(request: SnippetRequest): Promise<Answer> {
    const { key } = request;
    const asked = this.#asked.get(key);
    if (asked) return asked;
    const answer = this.#ask(request);
    this.#asked.set(key, answer);
    const forget = () => {
      if (this.#asked.get(key) === answer) this.#asked.delete(key);
    };
    answer.then(this.#options.remember ? () => {} : forget, forget);
    return answer;
  }

  /** Asks for a snippet before it is needed. If that fails, it is asked for again once it is needed. */
  prefetch(request: SnippetRequest): void {
    if (!hasConnection(this.#settings) || this.#isHopeless) return;
    this.get(request).catch((error) => {
      this.#isHopeless ||= isSnippetFailure(error) && consequenceOf(error) === 'end';
    });
  }

  /** The last good content, for the rest of the run. @throws `error` if none is cached, or it is no outage */
  async staleAnswer(request: SnippetRequest, error: unknown): Promise<Answer> {
    const { staleIfError } = this.#settings;
    const isInTrouble = error instanceof SnippetError && consequenceOf(error) === 'children';
    if (staleIfError === 0 || !isInTrouble) throw error;
    const kept = await this.#recall(request, staleIfError);
    if (!kept) throw error;

    const answer = { ...kept, error };
    if (this.#options.remember) this.#asked.set(request.key, Promise.resolve(answer));
    return answer;
  }

  /** Warns once if the site shows only retrieved snippets because the service has no route for rendering. */
  routeWarnings(answers: Iterable<Answer>): string[] {
    const missing = this.#connection?.client.missingRoute;
    if (!missing || this.#hasRouteWarning) return [];
    const variants = new Set(Array.from(answers, ({ variant }) => variant));
    if ([...variants].join() !== 'retrieve') return [];
    this.#hasRouteWarning = true;
    const isOption = this.#settings.urlOptions.includes('renderBaseUrl');
    const setting = isOption ? 'the option `renderBaseUrl`' : environmentVariables.renderBaseUrl;
    return [
      `No snippet was rendered: ${cleanText(missing.baseUrl)} answers ${missing.status} for every route. All were retrieved instead. Check ${setting}.`,
    ];
  }

  async close(): Promise<void> {
    const { client, cache } = this.#connection ?? {};
    // Clear the field before waiting, so that a connection opened meanwhile survives.
    this.#connection = undefined;
    await client?.close();
    await cache?.close();
  }

  async #ask(request: SnippetRequest): Promise<Answer> {
    const { client, cache } = this.#open();
    const { offline } = this.#settings;
    const maxAge = this.#maxAge();
    if (maxAge > 0) {
      const kept = await this.#recall(request, maxAge);
      if (kept) return kept;
    }
    if (offline) throw new SiteError('not-cached', 'is not in the cache, and `offline` is set.', request.id);

    try {
      const snippet = await client.fetch(request);
      const { content, variant, name } = snippet;
      if (this.#options.isWorthKeeping?.(request, content) !== false) {
        cache?.write(request, { content, variant, name, fetchedAt: Date.now() });
      }
      return snippet;
    } catch (error) {
      return this.staleAnswer(request, error);
    }
  }

  /** How old a cached answer may be to be used instead of a request, in milliseconds. */
  #maxAge() {
    const { offline, cache } = this.#settings;
    if (offline) return Infinity;
    return cache === false || this.#options.alwaysAsk ? 0 : cache.maxAge;
  }

  /** A cached answer of at most this age. One from the future (a wrong clock) is as old as it is far away. */
  async #recall(request: SnippetRequest, maxAge: number): Promise<Answer | undefined> {
    const cache = this.#connection?.cache;
    const answer = await cache?.read(request);
    if (!answer || Math.abs(Date.now() - answer.fetchedAt) > maxAge) return undefined;
    if (!this.#options.isSuperseded?.(request, answer)) {
      this.#cached += 1;
      return { ...answer, milliseconds: 0 };
    }

    // Remove a superseded answer now: if this build fails, the next one has no manifest to recognize it by.
    cache?.remove(request);
    if (!this.#settings.offline) return undefined;
    const reason = 'is in the cache only as it was before the site was refreshed, and `offline` is set.';
    throw new SiteError('not-cached', reason, request.id);
  }

  #open() {
    this.#connection ??= {
      client: openClient(this.#settings, this.#options),
      cache: openCache(this.#settings, this.#options),
    };
    return this.#connection;
  }
}

function openCache(settings: Settings, { warn }: AnswerSourceOptions): AnswerCache | undefined {
  const { cache, answerFolder } = settings;
  return cache && answerFolder ? new AnswerCache(answerFolder, cache, settings, warn) : undefined;
}

function openClient(settings: Settings, options: AnswerSourceOptions): SnippetClient {
  const { warn, notify = warn, patience = settings.patience, parts = {} } = options;
  const clientOptions = {
    ...settings,
    apiKey: requireConnection(settings),
    patience: Math.min(settings.patience, patience),
    onNotice(notice: Notice) {
      // A missing route is a warning at the end, with its URL: see `routeWarnings`.
      const isWarnedLater = notice.kind === 'render-given-up' && notice.isRouteMissing;
      if (!isWarnedLater) notify(describeNotice(notice));
    },
  };
  return new SnippetClient(clientOptions, parts);
}

function describeNotice(notice: Notice): string {
  if (notice.kind === 'render-given-up') {
    return 'Rendering failed for several snippets in a row. The rest are retrieved.';
  }
  const service = `The service at ${notice.origin}`;
  if (notice.kind === 'recovered') return `${service} responds again.`;
  if (notice.kind === 'held') return `${service} asks to wait ${formatDuration(notice.milliseconds)}.`;
  // The same format as the times in Astro's own log.
  const until = new Date(notice.until).toLocaleTimeString('en-GB');
  return `${service} fails for every request: ${notice.reason.replace(/\.$/, '')}. It is tried for ${formatDuration(notice.patience)}, until ${until}.`;
}
