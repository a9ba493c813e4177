import { cleanText } from '../client/clean-text.ts';
import { formatDuration } from '../client/format.ts';
import type { Counts, Notice } from '../client/scheduler.ts';
import { type ClientParts, type Snippet, SnippetClient } from '../client/snippet-client.ts';
import { SnippetError } from '../client/snippet-error.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { effectOf, isSnippetFailure, SiteError, type SnippetFailure } from '../failures/errors.ts';
import { hasConnection, requireConnection, type Settings } from '../settings/settings.ts';
import { type KeptAnswer, keptAnswers } from './kept-answers.ts';

export interface Answer extends Snippet {
  /** When the service sent it, in milliseconds since the epoch, unless that was just now. */
  fetchedAt?: number | undefined;
  /** Why the service did not send it now: the content is the last good one. */
  error?: SnippetError | undefined;
}

export interface AnswersOptions {
  warn(line: string): void;
  /** Whether an answer is used for the whole run. */
  remember: boolean;
  /** Told what the service is doing, instead of `warn`. */
  notify?(line: string): void;
  parts?: ClientParts | undefined;
  /** In milliseconds, if it is less than the settings' own. */
  patience?: number | undefined;
  /** Makes a request even if the answer that was kept is young enough. */
  alwaysAsk?: boolean | undefined;
  /** Whether the site has shown a newer content, which a refresh could not write into this cache. */
  isSuperseded?: ((request: SnippetRequest, answer: KeptAnswer) => boolean) | undefined;
  /** Whether an answer is kept. @default each is */
  isWorthKeeping?: ((request: SnippetRequest, content: string) => boolean) | undefined;
}

/** Asks for each snippet once, unless a good answer was kept. */
export function openAnswers(settings: Settings, options: AnswersOptions) {
  const { offline, cache, answerFolder, staleIfError, patience } = settings;
  const { warn, notify = warn, remember, parts = {}, alwaysAsk, isSuperseded, isWorthKeeping } = options;
  const asked = new Map<string, Promise<Answer>>();
  let opened: { client: SnippetClient; kept: ReturnType<typeof keptAnswers> | undefined } | undefined;
  let cached = 0;
  let isRouteWarned = false;
  let isEnded = false;

  const open = () => {
    const connection = {
      ...settings,
      apiKey: requireConnection(settings),
      patience: Math.min(patience, options.patience ?? patience),
      onNotice(notice: Notice) {
        // That is a warning when all snippets are there.
        if (notice.kind !== 'render-given-up' || !notice.isRouteMissing) notify(describeNotice(notice));
      },
    };
    const isKept = cache !== false && answerFolder !== undefined;
    return {
      client: new SnippetClient(connection, parts),
      kept: isKept ? keptAnswers(answerFolder, cache, settings, warn) : undefined,
    };
  };

  const notCached = (reason: string, { id }: SnippetRequest) => new SiteError('not-cached', reason, id);

  /** A date in the future (a wrong clock) counts by its distance. */
  const recall = async (request: SnippetRequest, maxAge: number): Promise<Answer | undefined> => {
    const kept = opened?.kept;
    const answer = await kept?.read(request);
    if (answer === undefined || Math.abs(Date.now() - answer.fetchedAt) > maxAge) return undefined;
    if (!isSuperseded?.(request, answer)) {
      cached += 1;
      return { ...answer, milliseconds: 0 };
    }
    // A build that fails has no record, so the next one may not know.
    kept?.remove(request);
    if (!offline) return undefined;
    const reason = 'is in the cache only as it was before the site was refreshed, and `offline` is set.';
    throw notCached(reason, request);
  };

  /** The last good content, for the rest of the run. @throws `error` without one, or if the service refuses. */
  const lastGood = async (request: SnippetRequest, error: SnippetFailure): Promise<Answer> => {
    if (staleIfError === 0 || !(error instanceof SnippetError) || effectOf(error) !== 'children') throw error;
    const kept = await recall(request, staleIfError);
    if (kept === undefined) throw error;
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
      if (known !== undefined) return known;
    }
    if (offline) throw notCached('is not in the cache, and `offline` is set.', request);
    try {
      const snippet = await client.fetch(request);
      const { content, variant, name } = snippet;
      if (isWorthKeeping?.(request, content) !== false) {
        kept?.write(request, { content, variant, name, fetchedAt: Date.now() });
      }
      return snippet;
    } catch (error) {
      if (!isSnippetFailure(error)) throw error;
      return lastGood(request, error);
    }
  };

  /** @throws SnippetError or SiteError `not-cached`: a later call makes the request again. */
  const get = (request: SnippetRequest): Promise<Answer> => {
    const { key } = request;
    const known = asked.get(key);
    if (known !== undefined) return known;
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

    /** Makes a request before its snippet is needed. One that fails is made again then. */
    prefetch(request: SnippetRequest): void {
      if (!hasConnection(settings) || isEnded) return;
      get(request).catch((error) => {
        isEnded ||= isSnippetFailure(error) && effectOf(error) === 'end';
      });
    },

    get counts(): Counts & { cached: number } {
      return { requests: 0, retries: 0, fallbacks: 0, ...opened?.client.counts, cached };
    },

    /** Warns once if all snippets were retrieved, as where the base URL for rendering is wrong. */
    routeWarnings(shown: Iterable<Answer>): string[] {
      const missing = opened?.client.routeMissing;
      const variants = new Set(Array.from(shown, ({ variant }) => variant));
      if (missing === undefined || isRouteWarned || [...variants].join() !== 'retrieve') return [];
      isRouteWarned = true;
      return [
        `No snippet was rendered: ${cleanText(missing.baseUrl)} answers ${missing.status} for every route. All were retrieved instead. Check SNIPPETS_RENDER_BASE_URL.`,
      ];
    },

    async close(): Promise<void> {
      const { client, kept } = opened ?? {};
      opened = undefined;
      await client?.close();
      await kept?.close();
    },
  };
}

function describeNotice(notice: Notice): string {
  if (notice.kind === 'render-given-up')
    return 'Rendering failed for several snippets in a row. The rest are retrieved.';
  const service = `The service at ${notice.origin}`;
  if (notice.kind === 'recovered') return `${service} responds again.`;
  if (notice.kind === 'held') return `${service} asks to wait ${formatDuration(notice.milliseconds)}.`;
  // The time of day, as Astro's own log has it.
  const until = new Date(notice.until).toLocaleTimeString('en-GB');
  return `${service} fails for every request: ${notice.reason.replace(/\.$/, '')}. It is tried for ${formatDuration(notice.patience)}, until ${until}.`;
}
