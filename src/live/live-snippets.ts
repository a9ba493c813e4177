import { type Clock, systemClock } from '../client/clock.ts';
import { type ClientParts, SnippetClient, type SnippetClientOptions } from '../client/snippet-client.ts';
import { SnippetError } from '../client/snippet-error.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import type { Variant } from '../client/variants.ts';
import { type ContentRules, prepareSnippet } from '../content/prepare-snippet.ts';
import { consequenceOf } from '../failures/error-table.ts';
import { isSnippetFailure, userError } from '../failures/errors.ts';
import type { HtmlRules } from '../settings/options.ts';
import { reasonOf } from '../text/clean-text.ts';
import { formatDuration } from '../text/format.ts';
import { containsKnownKey } from '../text/known-keys.ts';
import { type LiveConnection, LiveConnectionReader, type ReadVariable } from './live-connection.ts';
import { LiveMemory } from './live-memory.ts';
import type { ParsedLiveOptions } from './live-options.ts';

/** The content of a live snippet, as pages get it. */
export interface LiveSnippetData {
  /** HTML, after `sanitize`, `scripts` and `links` were applied. */
  content: string;
  /** The content without tags, with its entities decoded. */
  text: string;
  /** The snippet's name. Only of a retrieved snippet. */
  name?: string | undefined;
  /** Which endpoint sent the content (specification, section 4). */
  variant: Variant;
}

/** What the loader takes from its surroundings. Tests replace it. */
export interface LiveSurroundings {
  readVariable: ReadVariable;
  /** The base path of the site, and how its paths end. */
  urls: NonNullable<HtmlRules['links']>;
  /** Called with whole sentences: about flaws of a content, and when an old one is shown. */
  warn(line: string): void;
  parts?: ClientParts | undefined;
}

interface OpenedClient {
  client: SnippetClient;
  /** The connection as JSON, to compare it. */
  connection: string;
  /** When to open a new client, which asks variant B first again; `Infinity` as long as this one does. */
  endsAt: number;
}

/**
 * How long the snippets are only retrieved once rendering has failed for several in a row, in milliseconds. A client
 * remembers that for good, as a build ends soon, and a server does not.
 */
const renderPause = 60_000;

/** The most warnings that are remembered: people may publish new flaws as long as the server runs. */
const maxWarnings = 1_000;

/**
 * The live snippets of a process: one client, which keeps its connections and what it learns about the service, and the
 * last contents.
 */
export class LiveSnippets {
  readonly #options: ParsedLiveOptions;
  readonly #surroundings: LiveSurroundings;
  readonly #clock: Clock;
  #opened: OpenedClient | undefined;
  #memory: LiveMemory<LiveSnippetData> | undefined;
  readonly #connection: LiveConnectionReader;
  readonly #rules: ContentRules;
  /** The flaws of contents that were warned of: a snippet is fetched many times. */
  readonly #warned = new Set<string>();

  constructor(options: ParsedLiveOptions, surroundings: LiveSurroundings) {
    this.#options = options;
    this.#surroundings = surroundings;
    this.#clock = surroundings.parts?.clock ?? systemClock;
    const { sanitize, scripts, strict, links } = options;
    this.#rules = {
      sanitize,
      scripts,
      strict,
      links: links && surroundings.urls,
      policy: 'none',
      findsInlineCode: false,
    };
    this.#connection = new LiveConnectionReader(options, surroundings.readVariable);
  }

  /**
   * Gets the content of a snippet for a page, within the option `timeout`.
   *
   * @throws SnippetError or SiteError; UserError if the environment has no key or base URL
   */
  async get(request: SnippetRequest): Promise<LiveSnippetData> {
    const client = this.#open(await this.#connection.read());
    this.#memory ??= this.#createMemory(client);
    return this.#memory.get(request.key, () => this.#fetch(client, request));
  }

  /** Forgets the contents of a snippet, whatever its params, so that the next page gets what the service sends. */
  forget(id: number): void {
    this.#memory?.forget((key) => key === `${id}` || key.startsWith(`${id} `));
  }

  #open(settings: LiveConnection): SnippetClient {
    const connection = JSON.stringify(settings);
    const opened = this.#opened;
    if (opened?.connection === connection && this.#clock.now() < opened.endsAt) return opened.client;

    if (opened && opened.connection !== connection) this.#memory = undefined;
    if (opened) this.#closeLater(opened.client);
    return this.#openClient(settings, connection);
  }

  #openClient(settings: LiveConnection, connection: string): SnippetClient {
    const { concurrency, timeout } = this.#options;
    const options: SnippetClientOptions = {
      ...settings,
      concurrency,
      limits: { deadline: timeout, attemptTimeout: timeout },
      // A reader is waiting, so a service that is down is not waited for.
      patience: 0,
      onNotice: ({ kind }) => {
        if (kind === 'render-given-up') opened.endsAt = this.#clock.now() + renderPause;
      },
    };
    const client = new SnippetClient(options, this.#surroundings.parts ?? {});
    const opened = { client, connection, endsAt: Infinity };
    this.#opened = opened;
    return client;
  }

  /** Closes a client once its requests have ended. */
  #closeLater(client: SnippetClient): void {
    const timer: { unref?(): void } = setTimeout(
      () => client.close().catch(() => {}),
      2 * this.#options.timeout,
    );
    timer.unref?.();
  }

  #createMemory({ isolatesCalls }: SnippetClient): LiveMemory<LiveSnippetData> {
    const { warn } = this.#surroundings;
    return new LiveMemory({
      maxAge: this.#options.maxAge,
      clock: this.#clock,
      sharesRequests: !isolatesCalls,
      isRefusal: (error) => !isSnippetFailure(error) || consequenceOf(error) !== 'children',
      sizeOf: ({ content, text }) => content.length + text.length,
      onOutage: (error) => warn(`${reasonOf(error)}. The last content is shown meanwhile.`),
    });
  }

  async #fetch(client: SnippetClient, request: SnippetRequest): Promise<LiveSnippetData> {
    const { timeout } = this.#options;
    const limit = new AbortController();
    // The limits of the client leave out the wait for a turn among many requests.
    const reason = `no content within ${formatDuration(timeout, 'long')} (the option \`timeout\`)`;
    const end = () => limit.abort(new SnippetError('timeout', reason, { snippetId: request.id }));
    const timer = setTimeout(end, timeout);
    try {
      const { content, name, variant } = await client.fetch(request, limit.signal);
      const display = { request, asHtml: true };
      const { html, text, flaws } = await prepareSnippet({ content, name }, display, this.#rules);
      if ([html, text, name].some((value) => containsKnownKey(value ?? ''))) {
        throw userError(
          'published-key',
          `The API key was found in snippet ${request.id}, which is not shown.`,
        );
      }
      for (const { message } of flaws) this.#warnOnce(message);
      return { content: html, text, name, variant };
    } finally {
      clearTimeout(timer);
    }
  }

  #warnOnce(message: string): void {
    if (this.#warned.has(message)) return;
    if (this.#warned.size >= maxWarnings) this.#warned.clear();
    this.#warned.add(message);
    this.#surroundings.warn(message);
  }
}
