import { hash } from 'node:crypto';
import { SnippetError } from '../client/snippet-error.ts';
import { consequenceOf } from '../failures/error-table.ts';
import { isSnippetFailure, type SnippetFailure } from '../failures/errors.ts';
import type { FetchedSnippet } from '../snippets/snippet-fetcher.ts';
import type { SnippetDisplay } from '../snippets/snippet-use.ts';

/** A snippet of a dev server, with content, an error or, while the service is down, both. */
export interface RememberedSnippet extends SnippetDisplay {
  /** The last content, which is shown until the service says that there is none. */
  content?: FetchedSnippet | undefined;
  /** Why there is no current content. */
  error?: SnippetFailure | undefined;
  /** When the service sent the content, in milliseconds since the epoch. */
  checkedAt?: number;
  /** When the snippet may be fetched again, in milliseconds since the epoch. */
  dueAt: number;
  /** The update in progress, which everyone who asks meanwhile shares. */
  update?: Promise<void>;
}

/** Fetches a snippet. @throws SnippetError or SiteError */
export type FetchSnippet = (display: SnippetDisplay) => Promise<FetchedSnippet>;

/**
 * How long after a fetch a snippet is due again, in milliseconds; longer while the service or the key is in
 * trouble. A page asks every two seconds, and its timer may be a little early.
 */
const calmPause = 1_900;
const troublePause = 9_900;

/** How long after its last question a page is forgotten, in milliseconds. */
const pageLifetime = 600_000;

/**
 * The snippets of a dev server, and the pages that show them, by the hashes of what they show.
 *
 * The first view of a snippet waits for the service. After that, a snippet is fetched when a page asks and it
 * is due, so the service is asked every two seconds, however many pages are open.
 */
export class SnippetMemory {
  readonly #fetch: FetchSnippet;
  readonly #warn: (line: string) => void;
  /** Snippets by how they are displayed, and the keys of their requests. */
  readonly #snippets = new Map<string, RememberedSnippet>();
  /** What pages show, and when they last asked whether that has changed, by their hashes. */
  readonly #pages = new Map<string, { snippets: readonly RememberedSnippet[]; askedAt: number }>();
  /** How often the classes of snippets have got new styles. */
  #styleChanges = 0;

  constructor(fetch: FetchSnippet, warn: (line: string) => void) {
    this.#fetch = fetch;
    this.#warn = warn;
  }

  /** Gets a snippet for a view. @param isLast whether the view waits for an update, as nothing asks again */
  async get({ request, asHtml }: SnippetDisplay, isLast: boolean): Promise<RememberedSnippet> {
    // The rules for HTML do not apply to a snippet that is shown as text, so both are remembered apart.
    const key = `${asHtml} ${request.key}`;
    const snippet = this.#snippets.get(key) ?? { request, asHtml, dueAt: 0 };
    this.#snippets.set(key, snippet);

    const isNew = !snippet.content && !snippet.error;
    const update = this.update(snippet);
    if (isNew || isLast) await update;
    else update?.catch(() => {});
    return snippet;
  }

  /** Fetches a snippet again if that is due, or now. @returns `undefined` if nothing is due */
  update(snippet: RememberedSnippet, isNow = false): Promise<void> | undefined {
    if (!isNow && Date.now() < snippet.dueAt) return undefined;
    snippet.update ??= this.#fetchAgain(snippet).finally(() => delete snippet.update);
    return snippet.update;
  }

  /** Remembers a page. @returns its hash, which changes when a reader would see a difference */
  hashPage(snippets: readonly RememberedSnippet[]): string {
    const looks = snippets.map(({ request, content, error }) => {
      const look = content ? [content.html, content.text] : !isOutage(error) && failureIdentity(error);
      return [request.key, look];
    });
    const pageHash = hash('sha256', JSON.stringify([this.#styleChanges, looks])).slice(0, 16);
    this.#pages.set(pageHash, { snippets, askedAt: Date.now() });
    return pageHash;
  }

  /** The snippets of a page that asks; `undefined` after a restart, or 10 minutes without a question. */
  snippetsOf(pageHash: string): readonly RememberedSnippet[] | undefined {
    const now = Date.now();
    for (const [key, { askedAt }] of this.#pages) {
      if (now > askedAt + pageLifetime) this.#pages.delete(key);
    }
    const page = this.#pages.get(pageHash);
    if (page) page.askedAt = now;
    return page?.snippets;
  }

  /** Changes the hashes of all pages, so that they load again: the classes of snippets have new styles. */
  restyle(): void {
    this.#styleChanges += 1;
  }

  async #fetchAgain(snippet: RememberedSnippet): Promise<void> {
    const { error: previousError, request } = snippet;
    const start = Date.now();
    try {
      const content = await this.#fetch(snippet);
      if (content.html !== snippet.content?.html) content.warnings.forEach(this.#warn);
      Object.assign(snippet, { content, error: content.error, checkedAt: content.fetchedAt ?? Date.now() });
    } catch (error) {
      if (!isSnippetFailure(error)) throw error;
      // The dev server is stopping, or its settings have changed: that says nothing about the snippet.
      if (error.code === 'closed') return;
      // The error that began an outage says more than that the client has stopped asking.
      snippet.error = error.code === 'unavailable' && isOutage(previousError) ? previousError : error;
      if (!isOutage(error)) snippet.content = undefined;
    }

    const { error, content } = snippet;
    // A snippet that fails by itself, such as one that does not exist, is asked for as often as others.
    const isCalm = !error || consequenceOf(error) === 'fail';
    snippet.dueAt = start + (isCalm ? calmPause : troublePause);
    if (error && content && !previousError) {
      this.#warn(`${error.message} Snippet ${request.id} is shown as it was last fetched.`);
    }
  }
}

/** Whether an error says something about the service, and nothing about the snippet. */
const isOutage = (error?: SnippetFailure) => error && consequenceOf(error) === 'children';

/** What distinguishes failures for a reader. Their messages count attempts and seconds. */
export function failureIdentity(error: SnippetFailure | undefined): (string | number | undefined)[] {
  if (!(error instanceof SnippetError)) return [error?.code, error?.reason];
  return [error.code, error.status, error.title, error.detail, error.type];
}
