import { hash } from 'node:crypto';
import { SnippetError } from '../client/snippet-error.ts';
import { effectOf, isMissing, type SnippetFailure } from '../failures/errors.ts';
import type { RememberedSnippet } from './snippet-memory.ts';

/** A snippet on a page. */
export interface ShownOnPage {
  snippet: RememberedSnippet;
  /** Whether each of its embeds has children, for when the service is down. */
  hasChildren: boolean;
  /** Whether each of its embeds is optional. */
  isOptional: boolean;
}

/** By the keys of requests. */
export type Shown = ReadonlyMap<string, ShownOnPage>;

interface ServedPage {
  shown: Shown;
  /** What it has fetched since it was served, such as JSON, and how that looked. */
  fetched: Map<string, { one: ShownOnPage; look: string }>;
  /** When it was last served or asked, in milliseconds since the epoch. */
  seenAt: number;
}

// In milliseconds. A page that is hidden does not ask.
const forgottenAfter = 10 * 60 * 1000;

/** What each page of a dev server shows, for as long as a browser asks whether that has changed. */
export class ServedPages {
  readonly #pages = new Map<string, ServedPage>();
  /** How often there were new styles for the classes of snippets. */
  #styles = 0;

  /** @returns the hash of what the page shows. */
  serve(page: string, shown: Shown): string {
    const now = Date.now();
    for (const [name, { seenAt }] of this.#pages) {
      if (now - seenAt > forgottenAfter) this.#pages.delete(name);
    }
    this.#pages.set(page, { shown, fetched: new Map(), seenAt: now });
    return this.#hashOf(shown);
  }

  /** Adds what a page has fetched after it was served, such as JSON or a server island. */
  addTo(page: string, shown: Shown): undefined {
    const served = this.#pages.get(page) ?? { shown: new Map(), fetched: new Map(), seenAt: Date.now() };
    for (const [key, one] of shown) served.fetched.set(key, { one, look: lookOf(one) });
    this.#pages.set(page, served);
  }

  /** The snippets of a page that asks whether they have changed. */
  keys(page: string): string[] {
    const served = this.#pages.get(page);
    if (served === undefined) return [];
    served.seenAt = Date.now();
    return [...served.shown.keys(), ...served.fetched.keys()];
  }

  /** Each page that was served until now has to load again. */
  restyle(): void {
    this.#styles += 1;
  }

  /** @param hash of what the page shows. Where nothing is known of the page, it may be anything. */
  hasChanged(page: string, hash: string): boolean {
    const served = this.#pages.get(page);
    return served === undefined || hash !== this.#hashOf(served.shown);
  }

  /** Whether what a page has fetched is different now. */
  hasFetchedOther(page: string): boolean {
    return [...(this.#pages.get(page)?.fetched.values() ?? [])].some(({ one, look }) => look !== lookOf(one));
  }

  #hashOf(shown: Shown): string {
    return hash('sha256', JSON.stringify([this.#styles, ...[...shown.values()].map(lookOf)])).slice(0, 16);
  }
}

/** What a page shows of a snippet, as text that is equal if a reader sees no difference. */
function lookOf({ snippet: { content, error }, hasChildren, isOptional }: ShownOnPage): string {
  if (content !== undefined) return JSON.stringify([content.html, content.text]);
  if (error === undefined) return '';
  const showsChildren = isMissing(error) ? isOptional : hasChildren && effectOf(error) === 'children';
  return showsChildren ? 'children' : failureLook(error);
}

/** What distinguishes one failure from another. Its sentence does not, since it counts attempts and seconds. */
export function failureLook(error: SnippetFailure): string {
  return error instanceof SnippetError
    ? JSON.stringify([error.code, error.status, error.title, error.detail, error.type])
    : JSON.stringify([error.code, error.reason]);
}
