import { hash } from 'node:crypto';
import { systemClock } from '../client/clock.ts';
import { SnippetError } from '../client/snippet-error.ts';
import type { SnippetDisplay } from '../content/prepare-snippet.ts';
import { consequenceOf } from '../failures/error-table.ts';
import { isSnippetFailure, type SnippetFailure } from '../failures/errors.ts';
import { nameSnippet } from '../failures/name-snippet.ts';
import type { FetchedSnippet } from '../snippets/snippet-fetcher.ts';
import { displayKey } from '../snippets/snippet-use.ts';

/** A snippet as the dev server knows it, with content, an error or, while the service is down, both. */
export interface RememberedSnippet extends SnippetDisplay {
  /** The last content. It stays while the service is down, and is removed if the snippet itself fails. */
  content?: FetchedSnippet | undefined;
  /** Why there is no current content. */
  error?: SnippetFailure | undefined;
  /** When the service sent the content, in milliseconds since the epoch. */
  checkedAt?: number;
  /** When the snippet may be fetched again, by `systemClock`, which nobody can set back. */
  dueAt: number;
  /** The fetch in progress, which all who ask for the snippet meanwhile share. */
  update?: Promise<void>;
}

/** Fetches a snippet. @throws SnippetError or SiteError */
export type FetchSnippet = (display: SnippetDisplay) => Promise<FetchedSnippet>;

/**
 * How long after a fetch a snippet may be fetched again, in milliseconds; longer while the service is down or
 * refuses the key. Pages ask every 2 seconds, so this is a little less, as their timers may be early.
 */
const calmPause = 1_900;
const troublePause = 9_900;

/** How long after a page last asked whether it has changed it is forgotten, in milliseconds. */
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
  /** Snippets by how they are displayed, and by the keys of their requests. */
  readonly #snippets = new Map<string, RememberedSnippet>();
  /** What open pages show, by the hash of each page: its snippets, and when the page last asked for changes. */
  readonly #pages = new Map<string, { snippets: readonly RememberedSnippet[]; askedAt: number }>();
  /** How often the CSS for the classes of snippets has changed: part of each hash, so that pages reload. */
  #styleChanges = 0;

  constructor(fetch: FetchSnippet, warn: (line: string) => void) {
    this.#fetch = fetch;
    this.#warn = warn;
  }

  /** Gets a snippet for a view. @param isLast whether to wait for an update, as the view never asks again */
  async get(display: SnippetDisplay, isLast: boolean): Promise<RememberedSnippet> {
    const { request, asHtml, asUrl, inTemplate } = display;
    // Each way to display a snippet has rules of its own, so they are remembered apart.
    const key = `${displayKey(display)} ${request.key}`;
    const snippet = this.#snippets.get(key) ?? { request, asHtml, asUrl, inTemplate, dueAt: 0 };
    this.#snippets.set(key, snippet);

    const isNew = !snippet.content && !snippet.error;
    const update = this.update(snippet);
    if (isNew || isLast) await update;
    else update?.catch(() => {});
    return snippet;
  }

  /** Fetches a snippet again if it is due, or if `isNow`. @returns `undefined` if nothing is fetched */
  update(snippet: RememberedSnippet, isNow = false): Promise<void> | undefined {
    if (!isNow && systemClock.now() < snippet.dueAt) return undefined;
    snippet.update ??= this.#fetchAgain(snippet).finally(() => delete snippet.update);
    return snippet.update;
  }

  /** Remembers a page. @returns its hash, which changes when the page would look different to a reader */
  hashPage(snippets: readonly RememberedSnippet[]): string {
    const looks = snippets.map(({ request, content, error }) => {
      const look = content ? [content.html, content.text] : !isOutage(error) && failureIdentity(error);
      return [request.key, look];
    });
    const pageHash = hash('sha256', JSON.stringify([this.#styleChanges, looks])).slice(0, 16);
    this.#pages.set(pageHash, { snippets, askedAt: systemClock.now() });
    return pageHash;
  }

  /** The snippets of a page that asks; `undefined` after a restart, or 10 minutes without a question. */
  snippetsOf(pageHash: string): readonly RememberedSnippet[] | undefined {
    const now = systemClock.now();
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
    const start = systemClock.now();
    try {
      const content = await this.#fetch(snippet);
      const { html, flaws, policyFlaws = [] } = content;
      if (html !== snippet.content?.html) {
        for (const { message, code } of [...flaws, ...policyFlaws]) this.#warn(`${message} [${code}]`);
      }
      Object.assign(snippet, { content, error: content.error, checkedAt: content.fetchedAt ?? Date.now() });
    } catch (error) {
      if (!isSnippetFailure(error)) throw error;
      // The fetcher was closed, as the server stops or its settings changed, so the snippet is left as it is.
      if (error.code === 'closed') return;
      // In an outage, the client stops asking and fails with `unavailable`: the first error says more.
      snippet.error = error.code === 'unavailable' && isOutage(previousError) ? previousError : error;
      if (!isOutage(error)) snippet.content = undefined;
    }

    const { error, content } = snippet;
    // A snippet that fails by itself, such as one that does not exist, is asked for as often as others.
    const isCalm = !error || consequenceOf(error) === 'fail';
    snippet.dueAt = start + (isCalm ? calmPause : troublePause);
    if (error && content && !previousError) {
      const subject = nameSnippet({ id: request.id, name: content.knownName });
      this.#warn(`${error.message} ${subject} is shown as it was last fetched.`);
    }
  }
}

/** Whether an error is about the service or the key, and not about the snippet. */
const isOutage = (error?: SnippetFailure) => error && consequenceOf(error) === 'children';

/** What makes two failures different to a reader. Messages do not: they count attempts and seconds. */
export function failureIdentity(error: SnippetFailure | undefined): (string | number | undefined)[] {
  if (!(error instanceof SnippetError)) return [error?.code, error?.reason];
  return [error.code, error.status, error.title, error.detail, error.type];
}
