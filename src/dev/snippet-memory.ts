import { hash as digest } from 'node:crypto';
import { SnippetError } from '../client/snippet-error.ts';
import { consequenceOf } from '../failures/error-table.ts';
import { isSnippetFailure, type SnippetFailure } from '../failures/errors.ts';
import type { FetchedSnippet, SnippetFetcher } from '../snippets/snippet-fetcher.ts';
import type { SnippetDisplay } from '../snippets/snippet-use.ts';

/** With content, an error or, while the service is down, both. */
export interface RememberedSnippet extends SnippetDisplay {
  content?: FetchedSnippet | undefined;
  error?: SnippetFailure | undefined;
  checkedAt?: number;
  dueAt: number;
  update?: Promise<void>;
}

export type SnippetMemory = ReturnType<typeof snippetMemory>;

/**
 * The snippets of a dev server. The first view of one waits for the service. Each is asked for every two seconds, however
 * many pages are open, and every ten seconds in trouble.
 */
export function snippetMemory(
  fetch: SnippetFetcher['get'],
  warn: (line: string) => void,
): {
  update: (snippet: RememberedSnippet, isNow?: boolean) => Promise<void> | undefined;
  /** @param isLast whether nothing asks again, so that this waits for an update that is due. */
  get({ request, asHtml }: SnippetDisplay, isLast: boolean): Promise<RememberedSnippet>;
  /** Of what a page shows. It changes when a reader would see a difference. */
  hashOf(snippets: readonly RememberedSnippet[]): string;
  /** The snippets of pages with a hash; `undefined` after a restart, or 10 minutes after they last asked. */
  shownAs(hash: string): readonly RememberedSnippet[] | undefined;
  /** Every page has to load again: the classes of snippets have new styles. */
  restyle(): void;
} {
  const states = new Map<string, RememberedSnippet>();
  /** What pages show, by its hash. */
  const shown = new Map<string, { snippets: readonly RememberedSnippet[]; askedAt: number }>();
  let styles = 0;

  const fetchAgain = async (snippet: RememberedSnippet) => {
    const { error: before, request } = snippet;
    const start = Date.now();
    try {
      const content = await fetch(snippet);
      if (content.html !== snippet.content?.html) content.warnings.forEach(warn);
      Object.assign(snippet, { content, error: content.error, checkedAt: content.fetchedAt ?? Date.now() });
    } catch (error) {
      if (!isSnippetFailure(error)) throw error;
      // The dev server is stopping, or its settings have changed.
      if (error.code === 'closed') return;
      // That the client has stopped asking says less than why.
      snippet.error = error.code === 'unavailable' && isOutage(before) ? before : error;
      if (!isOutage(error)) snippet.content = undefined;
    }
    const { error, content } = snippet;
    const isCalm = !error || consequenceOf(error) === 'fail';
    // A page asks every two seconds, and may be a little early.
    snippet.dueAt = start + (isCalm ? 1_900 : 9_900);
    if (error && content && !before) {
      warn(`${error.message} Snippet ${request.id} is shown as it was last fetched.`);
    }
  };

  /** Fetches a snippet again if that is due, or now: once for all who ask meanwhile. */
  const update = (snippet: RememberedSnippet, isNow = false): Promise<void> | undefined => {
    if (!isNow && Date.now() < snippet.dueAt) return undefined;
    snippet.update ??= fetchAgain(snippet).finally(() => delete snippet.update);
    return snippet.update;
  };

  return {
    update,

    /** @param isLast whether nothing asks again, so that this waits for an update that is due. */
    async get({ request, asHtml }: SnippetDisplay, isLast: boolean) {
      // Shown as text, it may break a rule for HTML.
      const key = `${asHtml} ${request.key}`;
      const snippet = states.get(key) ?? { request, asHtml, dueAt: 0 };
      states.set(key, snippet);
      const isNew = !snippet.content && !snippet.error;
      const updated = update(snippet);
      if (isNew || isLast) await updated;
      else updated?.catch(() => {});
      return snippet;
    },

    /** Of what a page shows. It changes when a reader would see a difference. */
    hashOf(snippets: readonly RememberedSnippet[]) {
      const looks = snippets.map(({ request, content, error }) => {
        const look = content ? [content.html, content.text] : !isOutage(error) && failureIdentity(error);
        return [request.key, look];
      });
      const found = digest('sha256', JSON.stringify([styles, looks])).slice(0, 16);
      shown.set(found, { snippets, askedAt: Date.now() });
      return found;
    },

    /** The snippets of pages with a hash; `undefined` after a restart, or 10 minutes after they last asked. */
    shownAs(hash: string) {
      const now = Date.now();
      for (const [key, { askedAt }] of shown) if (now > askedAt + 600_000) shown.delete(key);
      const known = shown.get(hash);
      if (known) known.askedAt = now;
      return known?.snippets;
    },

    /** Every page has to load again: the classes of snippets have new styles. */
    restyle() {
      styles += 1;
    },
  };
}

const isOutage = (error?: SnippetFailure) => error && consequenceOf(error) === 'children';

/** What distinguishes failures. Their sentences count attempts and seconds. */
export function failureIdentity(error: SnippetFailure | undefined): (string | number | undefined)[] {
  if (!(error instanceof SnippetError)) return [error?.code, error?.reason];
  return [error.code, error.status, error.title, error.detail, error.type];
}
