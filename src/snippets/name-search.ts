import { type ClientParts, SnippetClient } from '../client/snippet-client.ts';
import { SnippetError } from '../client/snippet-error.ts';
import { hasConnection } from '../settings/connection.ts';
import type { Settings } from '../settings/settings.ts';
import type { SnippetNames } from './snippet-names.ts';

/** The most requests for names at once: few, as contents matter more. */
const concurrency = 10;

/** How long a name may take, in milliseconds. */
const patience = 5_000;

/** After this many failures of the service, no more names are asked for. */
const maxFailures = 3;

/**
 * Asks for the names of snippets whose contents are rendered, as only variant A sends names. Each is asked for once, in
 * the background. What fails is not reported, and nobody waits: a name is for people alone.
 *
 * These requests have a client of their own, so that their failures say nothing about the contents.
 */
export class NameSearch {
  readonly #settings: Settings;
  readonly #names: SnippetNames;
  readonly #parts: ClientParts;
  readonly #asked = new Set<number>();
  #client: SnippetClient | undefined;
  #failures = 0;

  constructor(settings: Settings, names: SnippetNames, parts: ClientParts = {}) {
    this.#settings = settings;
    this.#names = names;
    this.#parts = parts;
  }

  /** Asks for the name of a snippet, unless it is known or was asked for. */
  ask(id: number): void {
    const { renderBaseUrl, retrieveBaseUrl, offline } = this.#settings;
    // Without variant B, the name comes with the content.
    if (!renderBaseUrl || !retrieveBaseUrl || offline || !hasConnection(this.#settings)) return;
    if (this.#names.of(id) !== undefined || this.#asked.has(id) || this.#failures >= maxFailures) return;
    this.#asked.add(id);
    this.#find(id).catch((error: unknown) => this.#noteFailure(error));
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.close();
  }

  async #find(id: number): Promise<void> {
    const { apiKey = '', retrieveBaseUrl, ca } = this.#settings;
    // The limits of requests for contents are not for these.
    const { limits: _, ...parts } = this.#parts;
    this.#client ??= new SnippetClient(
      {
        apiKey,
        retrieveBaseUrl,
        ca,
        concurrency,
        patience: 0,
        limits: { attempts: 1, attemptTimeout: patience, deadline: patience },
      },
      parts,
    );
    const { name } = await this.#client.retrieve(id);
    this.#names.note(id, name);
  }

  /** One snippet that is missing says nothing about others. */
  #noteFailure(error: unknown): void {
    if (error instanceof SnippetError && error.code === 'not-found') return;
    this.#failures += 1;
  }
}
