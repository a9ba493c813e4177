import { hash } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { createStorage, type Driver, type Storage } from 'unstorage';
import fsLite from 'unstorage/drivers/fs-lite';
import { z } from 'zod';
import { timerLength, unlessAborted } from '../client/clock.ts';
import type { Notice } from '../client/scheduler.ts';
import { type ClientParts, type Snippet, SnippetClient } from '../client/snippet-client.ts';
import { SnippetError, type SnippetRequest } from '../client/snippet-request.ts';
import { cleanText, containsKnownKey, formatDuration, reasonOf } from '../client/text.ts';
import {
  consequenceOf,
  type FailedSnippet,
  type Failures,
  failureWarnings,
  isSnippetFailure,
  listPlaces,
  SiteError,
  shownWarnings,
  throwFailures,
} from '../failures/errors.ts';
import { writeAtomically } from '../files/files.ts';
import { type PreparedSnippet, prepareSnippet } from '../html/rules.ts';
import type { RecordedImages, SiteImages } from '../images/site-images.ts';
import {
  hasConnection,
  isWithoutKey,
  requireConnection,
  type Settings,
  withoutKeyWarning,
} from '../settings/settings.ts';
import type { SnippetUse } from './file-embeds.ts';

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
  readonly missing = new Set<string>();
  /** What `prepare` has taken of the time limit, in milliseconds. */
  #spent = 0;

  constructor(settings: Settings, options: FetcherOptions) {
    this.#settings = settings;
    this.#options = options;
    this.answers = openAnswers(settings, options);
    if (!settings.images) return;
    const imageOptions = { ...settings, ...settings.images, recorded: options.recordedImages };
    // Most sites leave images where they are.
    this.#images = import('../images/site-images.ts').then((module) => module.openImages(imageOptions));
  }

  /** For snippets that pages may show. Those that fail are asked for again when one does. */
  prepare(uses: readonly SnippetUse[]) {
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

  async get(shown: ShownAs) {
    const answer = await this.answers.get(shown.request);
    const known = this.#prepared[shown.asHtml ? 'html' : 'text'];
    const prepared = known.get(answer) ?? this.#applyRules(answer, shown);
    known.set(answer, prepared);
    return prepared;
  }

  async readImage(file: string) {
    return (await this.#images)?.read(file);
  }

  /** It opens again when another snippet is needed. */
  async close() {
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

export interface Answer extends Snippet {
  /** When the service sent it, in milliseconds since the epoch, unless that was just now. */
  fetchedAt?: number | undefined;
  /** Why the service did not send it now: the content is the last good one. */
  error?: SnippetError | undefined;
}

export interface FetcherOptions {
  warn(line: string): void;
  /** Whether an answer is used for the whole run. */
  remember: boolean;
  /** Told what the service is doing, instead of `warn`. */
  notify?(line: string): void;
  parts?: ClientParts;
  /** In milliseconds, if it is less than the settings' own. */
  patience?: number | undefined;
  /** Makes a request even if the kept answer is young enough. */
  alwaysAsk?: boolean;
  /** Whether the site has shown newer content, from a refresh without this cache. */
  isSuperseded?: ((request: SnippetRequest, answer: KeptAnswer) => boolean) | undefined;
  /** Whether an answer is kept. @default each is */
  isWorthKeeping?: (request: SnippetRequest, content: string) => boolean;
  recordedImages?: RecordedImages;
}

/** Asks for each snippet once, unless a good answer was kept. */
export function openAnswers(settings: Settings, options: FetcherOptions) {
  const { offline, cache, answerFolder, staleIfError, patience } = settings;
  const { warn, notify = warn, remember, parts = {}, alwaysAsk, isSuperseded, isWorthKeeping } = options;
  const asked = new Map<string, Promise<Answer>>();
  let opened: ReturnType<typeof open> | undefined;
  let cached = 0;
  let isRouteWarned = false;
  let isEnded = false;

  const open = () => {
    const connection = {
      ...settings,
      apiKey: requireConnection(settings),
      patience: Math.min(patience, options.patience ?? patience),
      onNotice(notice: Notice) {
        // A warning says so at the end.
        if (notice.kind !== 'render-given-up' || !notice.isRouteMissing) notify(describeNotice(notice));
      },
    };
    return {
      client: new SnippetClient(connection, parts),
      kept: cache && answerFolder ? openAnswerCache(answerFolder, cache, settings, warn) : undefined,
    };
  };

  /** A date in the future (a wrong clock) counts by its distance. */
  const recall = async (request: SnippetRequest, maxAge: number) => {
    const kept = opened?.kept;
    const answer = await kept?.read(request);
    if (!answer || Math.abs(Date.now() - answer.fetchedAt) > maxAge) return undefined;
    if (!isSuperseded?.(request, answer)) {
      cached += 1;
      return { ...answer, milliseconds: 0 };
    }
    // A build that fails has no record, so the next one may not know.
    kept?.remove(request);
    if (!offline) return undefined;
    const reason = 'is in the cache only as it was before the site was refreshed, and `offline` is set.';
    throw new SiteError('not-cached', reason, request.id);
  };

  /** The last good content, for the rest of the run. @throws `error` without one, or if the service refuses. */
  const lastGood = async (request: SnippetRequest, error: unknown) => {
    if (staleIfError === 0 || !(error instanceof SnippetError) || consequenceOf(error) !== 'children')
      throw error;
    const kept = await recall(request, staleIfError);
    if (!kept) throw error;
    const answer = { ...kept, error };
    if (remember) asked.set(request.key, Promise.resolve(answer));
    return answer;
  };

  const ask = async (request: SnippetRequest): Promise<Answer> => {
    opened ??= open();
    const { client, kept } = opened;
    const maxAge = cache === false || alwaysAsk ? 0 : cache.maxAge;
    if (offline || maxAge > 0) {
      const known = await recall(request, offline ? Infinity : maxAge);
      if (known) return known;
    }
    if (offline) throw new SiteError('not-cached', 'is not in the cache, and `offline` is set.', request.id);
    try {
      const snippet = await client.fetch(request);
      const { content, variant, name } = snippet;
      if (isWorthKeeping?.(request, content) !== false) {
        kept?.write(request, { content, variant, name, fetchedAt: Date.now() });
      }
      return snippet;
    } catch (error) {
      return lastGood(request, error);
    }
  };

  /** @throws SnippetError or SiteError `not-cached`: a later call makes the request again. */
  const get = (request: SnippetRequest) => {
    const { key } = request;
    const known = asked.get(key);
    if (known) return known;
    const answer = ask(request);
    asked.set(key, answer);
    const forget = () => {
      if (asked.get(key) === answer) asked.delete(key);
    };
    answer.then(remember ? () => {} : forget, forget);
    return answer;
  };

  return {
    get,
    lastGood,

    /** Makes a request early. One that fails is made again when its snippet is needed. */
    prefetch(request: SnippetRequest) {
      if (!hasConnection(settings) || isEnded) return;
      get(request).catch((error) => {
        isEnded ||= isSnippetFailure(error) && consequenceOf(error) === 'end';
      });
    },

    get counts() {
      return { requests: 0, retries: 0, fallbacks: 0, ...opened?.client.counts, cached };
    },

    /** Warns once if all were retrieved, as with a wrong base URL for rendering. */
    routeWarnings(shown: Iterable<Answer>) {
      const missing = opened?.client.routeMissing;
      const variants = new Set(Array.from(shown, ({ variant }) => variant));
      if (!missing || isRouteWarned || [...variants].join() !== 'retrieve') return [];
      isRouteWarned = true;
      return [
        `No snippet was rendered: ${cleanText(missing.baseUrl)} answers ${missing.status} for every route. All were retrieved instead. Check SNIPPETS_RENDER_BASE_URL.`,
      ];
    },

    async close() {
      const { client, kept } = opened ?? {};
      opened = undefined;
      await client?.close();
      await kept?.close();
    },
  };
}

function describeNotice(notice: Notice) {
  if (notice.kind === 'render-given-up') {
    return 'Rendering failed for several snippets in a row. The rest are retrieved.';
  }
  const service = `The service at ${notice.origin}`;
  if (notice.kind === 'recovered') return `${service} responds again.`;
  if (notice.kind === 'held') return `${service} asks to wait ${formatDuration(notice.milliseconds)}.`;
  // The time of day, as Astro's own log has it.
  const until = new Date(notice.until).toLocaleTimeString('en-GB');
  return `${service} fails for every request: ${notice.reason.replace(/\.$/, '')}. It is tried for ${formatDuration(notice.patience)}, until ${until}.`;
}

const answerSchema = z.object({
  content: z.string(),
  variant: z.enum(['render', 'retrieve']),
  name: z.string().optional(),
  /** When the service sent it, in milliseconds since the epoch. */
  fetchedAt: z.int().min(0),
});

export type KeptAnswer = z.infer<typeof answerSchema>;

const operationTimeout = 2_000;
// At least, in storages that delete old entries, in milliseconds.
const keepFor = 30 * 24 * 60 * 60 * 1000;

/** Never fails a build: a storage that fails or hangs is not used for the rest of the run, which is a warning. */
export function openAnswerCache(
  folder: string,
  cache: Exclude<Settings['cache'], false>,
  { apiKey = '', renderBaseUrl, retrieveBaseUrl, staleIfError }: Settings,
  warn: (line: string) => void,
) {
  // Some systems limit the number of open files.
  const queue = pLimit(32);
  const failed = { read: false, write: false };
  let written: Promise<unknown> = Promise.resolve();
  let storage: Promise<Storage> | undefined;
  let connectionError: Error | undefined;

  const open = async () => {
    const { driver: chosen = fileDriver(folder), options = {} } = cache;
    const driver: Driver =
      typeof chosen === 'string' ? (await import(`unstorage/drivers/${chosen}`)).default(options) : chosen;
    const client = driver.getInstance?.() as Partial<EventEmitter> | undefined;
    // Without a listener, a lost connection would end the process.
    client?.on?.('error', (error) => {
      connectionError = error;
    });
    return createStorage({ driver });
  };
  const attempt = <T>(kind: 'read' | 'write', operation: (storage: Storage) => Promise<T>) =>
    queue(async () => {
      if (failed[kind]) return undefined;
      try {
        storage ??= open();
        return await withTimeout(storage.then(operation));
      } catch (error) {
        const reason = reasonOf(connectionError ?? error);
        if (!failed.read && !failed.write) {
          warn(`The snippet cache failed and is not used for this run: ${reason}`);
        }
        failed[kind] = true;
        return undefined;
      }
    });
  /** In the background. */
  const change = (operation: (storage: Storage) => Promise<void>) => {
    written = Promise.all([written, attempt('write', operation)]);
  };
  // A file name that is valid on every system. Another API key may see other snippets.
  const keyOf = ({ id, params }: SnippetRequest) =>
    hash('sha256', JSON.stringify([hash('sha256', apiKey), renderBaseUrl, retrieveBaseUrl, id, params]));
  const ttl = Math.ceil(Math.max(keepFor, cache.maxAge, staleIfError) / 1000);

  return {
    async read(request: SnippetRequest) {
      const stored = await attempt('read', (storage) => storage.getItem(keyOf(request)));
      // It may be cut off, or written by something else.
      return answerSchema.safeParse(stored).data;
    },
    /** No answer with the API key is kept. */
    write(request: SnippetRequest, answer: KeptAnswer) {
      if (containsKnownKey(answer.content) || containsKnownKey(answer.name ?? '')) return;
      change((storage) => storage.setItem<KeptAnswer>(keyOf(request), answer, { ttl }));
    },
    remove(request: SnippetRequest) {
      change((storage) => storage.removeItem(keyOf(request)));
    },
    async close() {
      await written;
      await storage?.then((opened) => withTimeout(opened.dispose())).catch(() => {});
    },
  };
}

/** unstorage's own, but a build that is killed leaves no partial file. */
const fileDriver = (base: string): Driver => ({
  ...fsLite({ base }),
  setItem: (key, value) => writeAtomically(join(base, key), value),
});

const timeoutTicks = 10;

/** Counts time in which this process could have read an answer: while Vite bundles, it may stand still. */
function withTimeout<T>(work: Promise<T>) {
  const { promise, reject } = Promise.withResolvers<never>();
  let left = timeoutTicks;
  const timer = setInterval(() => {
    left -= 1;
    if (left === 0) reject(new Error(`no answer within ${operationTimeout / 1000} s`));
  }, operationTimeout / timeoutTicks);
  return Promise.race([work, promise]).finally(() => clearInterval(timer));
}
