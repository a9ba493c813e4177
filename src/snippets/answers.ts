import { cleanText } from '../client/clean-text.ts';
import { formatDuration } from '../client/format.ts';
import type { Counts, Notice } from '../client/scheduler.ts';
import { type ClientParts, type Snippet, SnippetClient } from '../client/snippet-client.ts';
import type { SnippetError } from '../client/snippet-error.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { effectOf, isSnippetFailure } from '../failures/errors.ts';
import { hasConnection, requireConnection, type Settings } from '../settings/settings.ts';
import { KeptAnswers, type KeptOptions } from './kept-answers.ts';

/** A snippet from the service, or kept from an earlier run. */
export interface Answer extends Snippet {
  /** When the service sent it, in milliseconds since the epoch; `undefined` if that was just now. */
  fetchedAt?: number | undefined;
  /** Why the service did not send it now. The content is then the last good one. */
  error?: SnippetError | undefined;
}

export interface AnswersOptions extends KeptOptions {
  /** Whether an answer is used for the whole run. A dev server asks again instead. */
  remember: boolean;
  /** Called instead of `warn` with what the service is doing. */
  notify?(line: string): void;
  /** What the client is made of besides the settings. */
  parts?: ClientParts | undefined;
  /** The most that a service which answers no one is tried, in milliseconds. @default the settings' own */
  patience?: number | undefined;
  /** Makes a request even if an answer that was kept is young enough. */
  alwaysAsk?: boolean | undefined;
}

/** What the service was asked, and how many snippets were kept from an earlier run instead. */
export type AnswerCounts = Readonly<Counts & { cached?: number }>;

/** Asks the service for each snippet once, and only where no answer was kept that is good enough. */
export class Answers {
  readonly #settings: Settings;
  readonly #options: AnswersOptions;
  /** By the keys of their requests. */
  readonly #asked = new Map<string, Promise<Answer>>();
  #opened: { client: SnippetClient; kept: KeptAnswers | undefined } | undefined;
  #cached = 0;
  /** Whether every request would fail the same way. */
  #isEnded = false;

  constructor(settings: Settings, options: AnswersOptions) {
    this.#settings = settings;
    this.#options = options;
  }

  get counts(): AnswerCounts {
    const { client, kept } = this.#opened ?? {};
    const counts = client?.counts ?? { requests: 0, retries: 0, fallbacks: 0 };
    return kept === undefined ? counts : { ...counts, cached: this.#cached };
  }

  /** What says that variant B's base URL is wrong, if no snippet was rendered. It would go unnoticed: all are retrieved. */
  get routeWarning(): string | undefined {
    const missing = this.#opened?.client.routeMissing;
    if (missing === undefined) return undefined;
    return `No snippet was rendered: ${cleanText(missing.baseUrl)} answers ${missing.status} for every route. All were retrieved instead. Check the base URL of variant B (SNIPPETS_RENDER_BASE_URL).`;
  }

  /** Starts a request before its snippet is needed. A failure is ignored: the request is made again when it is. */
  prefetch(request: SnippetRequest): void {
    if (!hasConnection(this.#settings) || this.#isEnded) return;
    this.get(request).catch((error) => {
      this.#isEnded ||= isSnippetFailure(error) && effectOf(error) === 'end';
    });
  }

  /** @throws SnippetError or SiteError `not-cached`. The request is made again then, when the snippet is asked for again. */
  get(request: SnippetRequest): Promise<Answer> {
    const { key } = request;
    const asked = this.#asked.get(key);
    if (asked !== undefined) return asked;
    const answer = this.#ask(request);
    this.#asked.set(key, answer);
    const forget = () => {
      if (this.#asked.get(key) === answer) this.#asked.delete(key);
    };
    answer.then(this.#options.remember ? () => {} : forget, forget);
    return answer;
  }

  /** The last good content, which the rest of the run shows, too, even if the service responds again. */
  async lastGood(request: SnippetRequest, error: SnippetError): Promise<Answer | undefined> {
    const kept = await this.#opened?.kept?.lastGood(request, error);
    if (kept === undefined) return undefined;
    this.#cached += 1;
    const answer = { ...kept, milliseconds: 0, error };
    if (this.#options.remember) this.#asked.set(request.key, Promise.resolve(answer));
    return answer;
  }

  async #ask(request: SnippetRequest): Promise<Answer> {
    const { client, kept } = this.#open();
    const current = await kept?.current(request);
    if (current !== undefined) {
      this.#cached += 1;
      return { ...current, milliseconds: 0 };
    }
    try {
      const snippet = await client.fetch(request);
      kept?.keep(request, snippet);
      return snippet;
    } catch (error) {
      const last = isSnippetFailure(error) ? await this.lastGood(request, error as SnippetError) : undefined;
      if (last === undefined) throw error;
      return last;
    }
  }

  /** Closes connections. They are opened again when another snippet is needed. */
  async close(): Promise<void> {
    const { client, kept } = this.#opened ?? {};
    this.#opened = undefined;
    await client?.close();
    await kept?.close();
  }

  /** @throws AstroError if the key or the base URLs are not set. */
  #open(): { client: SnippetClient; kept: KeptAnswers | undefined } {
    this.#opened ??= {
      client: openClient(this.#settings, this.#options),
      kept: openKept(this.#settings, this.#options),
    };
    return this.#opened;
  }
}

function openKept(settings: Settings, options: AnswersOptions): KeptAnswers | undefined {
  const { cache, answerFolder } = settings;
  if (cache === false || answerFolder === undefined) return undefined;
  return new KeptAnswers(settings, options.alwaysAsk ? { ...cache, maxAge: 0 } : cache, options);
}

function openClient(settings: Settings, options: AnswersOptions): SnippetClient {
  const { renderBaseUrl, retrieveBaseUrl, ca, concurrency } = settings;
  const { warn, notify = warn, parts = {} } = options;
  const apiKey = requireConnection(settings);
  const patience = Math.min(settings.patience, options.patience ?? Number.POSITIVE_INFINITY);
  const onNotice = (notice: Notice) => {
    const line = describeNotice(notice);
    if (line !== undefined) notify(line);
  };
  return new SnippetClient(
    { apiKey, renderBaseUrl, retrieveBaseUrl, ca, concurrency, patience, onNotice },
    parts,
  );
}

function describeNotice(notice: Notice): string | undefined {
  switch (notice.kind) {
    case 'held':
      return `The service at ${notice.origin} asks to wait ${formatDuration(notice.milliseconds)}.`;
    case 'failing': {
      // The time of day, as Astro's own log has it.
      const until = new Date(notice.until).toLocaleTimeString('en-GB');
      return `The service at ${notice.origin} fails for every request: ${notice.reason}. It is tried for ${formatDuration(notice.patience)}, until ${until}.`;
    }
    case 'recovered':
      return `The service at ${notice.origin} responds again.`;
    case 'render-given-up':
      // That is said with the URL, when all snippets are there.
      return notice.isRouteMissing
        ? undefined
        : 'Rendering (variant B) failed for several snippets in a row. The rest are retrieved (variant A).';
  }
}
