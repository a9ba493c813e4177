import { type Clock, systemClock } from '../client/clock.ts';
import { type ClientParts, SnippetClient, type SnippetClientOptions } from '../client/snippet-client.ts';
import { SnippetError } from '../client/snippet-error.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import type { Variant } from '../client/variants.ts';
import { prepareSnippet } from '../content/prepare-snippet.ts';
import { consequenceOf } from '../failures/error-table.ts';
import { isSnippetFailure, userError } from '../failures/errors.ts';
import { environmentVariables } from '../settings/variable-names.ts';
import { reasonOf } from '../text/clean-text.ts';
import { formatDuration } from '../text/format.ts';
import { containsKnownKey } from '../text/known-keys.ts';
import { LiveMemory } from './live-memory.ts';
import type { ParsedLiveOptions } from './live-options.ts';

/** The content of a live snippet, as pages get it. */
export interface LiveSnippetData {
  /** HTML, after `sanitize` and `scripts` were applied. */
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
  /** Reads a variable of the server's environment. */
  readVariable(name: string): string | undefined;
  /** Called with whole sentences: about flaws of a content, and when an old one is shown. */
  warn(line: string): void;
  parts?: ClientParts | undefined;
}

/** The part of the settings that the environment decides. If it changes, a new client is opened. */
type Connection = Pick<SnippetClientOptions, 'apiKey' | 'renderBaseUrl' | 'retrieveBaseUrl' | 'ca'>;

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
  #authorities: { file: string; certificates: string[] } | undefined;

  constructor(options: ParsedLiveOptions, surroundings: LiveSurroundings) {
    this.#options = options;
    this.#surroundings = surroundings;
    this.#clock = surroundings.parts?.clock ?? systemClock;
  }

  /**
   * Gets the content of a snippet for a page, within the option `timeout`.
   *
   * @throws SnippetError or SiteError; UserError if the environment has no key or base URL
   */
  async get(request: SnippetRequest): Promise<LiveSnippetData> {
    // The environment is read for each page: Cloudflare has none while modules are loaded, and a key may be renewed.
    const client = this.#open(await this.#readConnection());
    this.#memory ??= this.#createMemory(client);
    return this.#memory.get(request.key, () => this.#fetch(client, request));
  }

  /** Forgets the contents of a snippet, whatever its params, so that the next page gets what the service sends. */
  forget(id: number): void {
    this.#memory?.forget((key) => key === `${id}` || key.startsWith(`${id} `));
  }

  #open(settings: Connection): SnippetClient {
    const connection = JSON.stringify(settings);
    const opened = this.#opened;
    if (opened?.connection === connection && this.#clock.now() < opened.endsAt) return opened.client;

    if (opened && opened.connection !== connection) this.#memory = undefined;
    if (opened) this.#closeLater(opened.client);
    return this.#openClient(settings, connection);
  }

  #openClient(settings: Connection, connection: string): SnippetClient {
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
      onOutage: (error) => warn(`${reasonOf(error)}. The last content is shown meanwhile.`),
    });
  }

  async #readConnection(): Promise<Connection> {
    const read = (name: string) => this.#surroundings.readVariable(name) || undefined;
    const { renderBaseUrl, retrieveBaseUrl, ca } = this.#options;
    const apiKey = read(environmentVariables.apiKey);
    const connection = {
      renderBaseUrl: renderBaseUrl ?? read(environmentVariables.renderBaseUrl),
      retrieveBaseUrl: retrieveBaseUrl ?? read(environmentVariables.retrieveBaseUrl),
    };
    if (!apiKey) {
      throw userError(
        'missing-key',
        `${environmentVariables.apiKey} is not set in the environment of the server.`,
        'Set it where the server runs, as a secret: that of the build does not count.',
      );
    }
    if (!connection.renderBaseUrl && !connection.retrieveBaseUrl) {
      throw userError('missing-url', 'No base URL of the service is set in the environment of the server.');
    }
    const caFile = read(environmentVariables.caFile);
    return {
      apiKey,
      ...connection,
      ca: caFile ? [ca ?? [], await this.#readAuthorities(caFile)].flat() : ca,
    };
  }

  /** Reads the certificates of a file once: commands that replace it restart the server. */
  async #readAuthorities(file: string): Promise<string[]> {
    if (this.#authorities?.file !== file) {
      // Workers have no files, and nothing sets the variable there.
      const { readCaFile } = await import('../settings/ca-file.ts');
      this.#authorities = { file, certificates: readCaFile(file) };
    }
    return this.#authorities.certificates;
  }

  async #fetch(client: SnippetClient, request: SnippetRequest): Promise<LiveSnippetData> {
    const { timeout, sanitize, scripts = 'allow', strict = false } = this.#options;
    const limit = new AbortController();
    // The limits of the client leave out the wait for a turn among many requests.
    const reason = `no content within ${formatDuration(timeout, 'long')} (the option \`timeout\`)`;
    const end = () => limit.abort(new SnippetError('timeout', reason, { snippetId: request.id }));
    const timer = setTimeout(end, timeout);
    try {
      const { content, name, variant } = await client.fetch(request, limit.signal);
      const rules = { sanitize, scripts, strict, policy: 'none' as const, findsInlineCode: false };
      const { html, text, flaws } = await prepareSnippet({ content }, { request, asHtml: true }, rules);
      if ([html, text, name].some((value) => containsKnownKey(value ?? ''))) {
        throw userError(
          'published-key',
          `The API key was found in snippet ${request.id}, which is not shown.`,
        );
      }
      for (const { message } of flaws) this.#surroundings.warn(message);
      return { content: html, text, name, variant };
    } finally {
      clearTimeout(timer);
    }
  }
}
