import type { Notice } from '../client/scheduling/notice.ts';
import { type ClientParts, type Snippet, SnippetClient } from '../client/snippet-client.ts';
import { SnippetError } from '../client/snippet-error.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { consequenceOf } from '../failures/error-table.ts';
import { isSnippetFailure, SiteError } from '../failures/errors.ts';
import type { RecordedImages } from '../images/site-images.ts';
import { hasConnection, requireConnection } from '../settings/connection.ts';
import type { Settings } from '../settings/settings.ts';
import { cleanText } from '../text/clean-text.ts';
import { formatDuration } from '../text/format.ts';
import { type KeptAnswer, openAnswerCache } from './answer-cache.ts';

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
export function openAnswers(
  settings: Settings,
  options: FetcherOptions,
): {
  get: (request: SnippetRequest) => Promise<Answer>;
  lastGood: (
    request: SnippetRequest,
    error: unknown,
  ) => Promise<{
    error: SnippetError;
    milliseconds: number;
    content: string;
    variant: 'render' | 'retrieve';
    fetchedAt: number;
    name?: string | undefined;
  }>;
  /** Makes a request early. One that fails is made again when its snippet is needed. */
  prefetch(request: SnippetRequest): void;
  readonly counts: {
    cached: number;
    requests: number;
    retries: number;
    fallbacks: number;
  };
  /** Warns once if all were retrieved, as with a wrong base URL for rendering. */
  routeWarnings(shown: Iterable<Answer>): string[];
  close(): Promise<void>;
} {
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
  const lastGood = async (
    request: SnippetRequest,
    error: unknown,
  ): Promise<{
    error: SnippetError;
    milliseconds: number;
    content: string;
    variant: 'render' | 'retrieve';
    fetchedAt: number;
    name?: string | undefined;
  }> => {
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
  const get = (request: SnippetRequest): Promise<Answer> => {
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
      const missing = opened?.client.missingRoute;
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
