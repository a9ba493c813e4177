import picomatch from 'picomatch';
import type { ViteDevServer } from 'vite';
import type { FileKind } from '../embed/found-embed.ts';
import type { FailedSnippet } from '../failures/describe-failures.ts';
import { describeNote, type InvalidEmbed } from '../failures/embed-notes.ts';
import { UserError, userError } from '../failures/errors.ts';
import { throwFailures } from '../failures/failure-report.ts';
import { failureWarnings } from '../failures/failure-warnings.ts';
import { warningLines } from '../failures/snippet-warning.ts';
import { panelSnippets } from '../inlining/edit-links/edit-links.ts';
import { pageInliner } from '../inlining/inline-page.ts';
import type { SnippetSession } from '../integration/snippet-session.ts';
import { isWithoutKey, withoutKeyWarning } from '../settings/connection.ts';
import { filesAt, routeFiles } from '../settings/route-files.ts';
import type { Settings } from '../settings/settings.ts';
import { canonicalPath, decodePath, pathBelow } from '../settings/site-urls.ts';
import { NestingWarnings } from '../snippets/nesting-warnings.ts';
import { type FileEmbed, pageParams, readEmbeds } from '../snippets/read-embeds.ts';
import type { FetchedSnippet, FetchedSnippets } from '../snippets/snippet-fetcher.ts';
import type { SnippetUse, SnippetUses } from '../snippets/snippet-use.ts';
import { SourceSearch } from '../source/source-search.ts';
import { cleanLines } from '../text/clean-text.ts';
import { containsKnownKey } from '../text/known-keys.ts';
import { errorPage, type OverlayError, toHtml } from './error-page.ts';
import { failureIdentity, type SnippetMemory } from './snippet-memory.ts';
import { devFacts, linkOf, type ShownUse } from './toolbar-facts.ts';
import { ViewLines, ViewLog } from './view-log.ts';

/** A complete response of the dev server, before snippets are inlined. */
export interface RenderedText {
  path: string;
  kind: FileKind;
  bytes: Buffer;
  /** Whether a script fetches the response (header `Sec-Fetch-Dest`), so that it is not shown as a page. */
  isFetched: boolean;
}

/** What the browser gets: the response with its snippets, or a page with the error that prevents that. */
export type InlinedView = { kind: 'page'; bytes: Buffer } | { kind: 'error-page'; html: string };

/** What the steps of one view of a page share. The settings stay even if a `.env` file changes meanwhile. */
interface View {
  rendered: RenderedText;
  /** The URL of the site, if it is known. */
  site: string | undefined;
  settings: Settings;
  search: SourceSearch;
  lines: ViewLines;
  embeds: readonly FileEmbed[];
  invalid: readonly InvalidEmbed[];
  uses: SnippetUses;
  /** The name that people gave a snippet, if it is known. */
  nameOf(id: number): string | undefined;
}

/**
 * Inlines snippets into what the dev server renders, as a build does. Where a build would fail, the browser
 * gets an error page, and the next view tries again.
 */
export class InlineView {
  readonly #session: SnippetSession;
  readonly #server: ViteDevServer;
  readonly #memory: SnippetMemory;
  readonly #log = new ViewLog();

  constructor(session: SnippetSession, server: ViteDevServer, memory: SnippetMemory) {
    this.#session = session;
    this.#server = server;
    this.#memory = memory;
  }

  async inline(rendered: RenderedText): Promise<InlinedView> {
    const lines = new ViewLines(this.#session.site.logger);
    // The error page has the hash too, so that it asks whether its snippets have changed.
    let hash: string | undefined;
    try {
      if (this.#isExcluded(rendered)) return { kind: 'page', bytes: rendered.bytes };
      const view = this.#readView(rendered, lines);
      const shownUses = await this.#getSnippets(view);

      // No await from here on: another view could update a snippet, and the hash would not be of this view.
      if (shownUses.length > 0) hash = this.#memory.hashPage(shownUses.map(({ snippet }) => snippet));
      const snippets = contentsOf(shownUses);
      if (rendered.kind === 'html') warnOfPage(view, snippets);
      refuseFailures(view, shownUses);
      return { kind: 'page', bytes: inlineShown(view, shownUses, snippets, hash) };
    } catch (error) {
      return { kind: 'error-page', html: this.#showError(error as Error, rendered.path, hash, lines) };
    } finally {
      this.#log.write(rendered.path, lines);
    }
  }

  #isExcluded({ path, kind }: RenderedText): boolean {
    const { settings, site } = this.#session;
    const { base, format } = site.urls;
    const endpoint = { path: decodePath(pathBelow(base, path)), type: 'endpoint' } as const;
    const names = kind === 'html' ? filesAt(path, site.urls) : routeFiles(endpoint, format);
    return names.some((name) => picomatch.isMatch(name, settings.exclude));
  }

  /** Reads the embeds of a view. @throws UserError if there are any on a page that is rendered on demand */
  #readView(rendered: RenderedText, lines: ViewLines): View {
    const { settings, site } = this.#session;
    const { path, kind, bytes } = rendered;
    const search = new SourceSearch(site.sources);
    const addParams = pageParams(settings.params, canonicalPath(path, kind === 'html', site.urls));
    const uses: SnippetUses = new Map();
    const { embeds, invalid, warnings } = readEmbeds({ name: path, bytes, kind, addParams }, uses);
    for (const note of warnings) lines.warn(describeNote(note, search.whereWritten));
    if (embeds.length + invalid.length > 0) search.refuseOnDemand(path);
    const nameOf = (id: number) => this.#session.nameOf(id);
    return { rendered, site: site.urls.site, settings, search, lines, embeds, invalid, uses, nameOf };
  }

  /** Gets the snippets in the order of the page, as the toolbar lists them. Without a key, there are none. */
  async #getSnippets({ rendered, settings, lines, uses }: View): Promise<ShownUse[]> {
    if (uses.size > 0 && isWithoutKey(settings)) {
      lines.warn(withoutKeyWarning(settings));
      return [];
    }
    // A page reloads when a snippet changes, so it may show old content. A feed or script has to wait.
    const isLast = rendered.kind !== 'html' || rendered.isFetched;
    const get = async (use: SnippetUse) => ({ ...use, snippet: await this.#memory.get(use, isLast) });
    return Promise.all(uses.values().map(get));
  }

  /** Logs an error, and makes the page that shows it. */
  #showError(error: Error, path: string, hash: string | undefined, lines: ViewLines): string {
    const message = cleanLines(error.message);
    const { code, hint: nextStep = '' }: Partial<UserError> = error instanceof UserError ? error : {};
    // A report of several failures has no code of its own; its hint names theirs.
    const hint = code ? `${code}: ${nextStep}` : nextStep;
    const indentedHint = hint && `\n\n  Hint:\n${hint.replaceAll(/^/gm, '    ')}\n`;
    lines.error(message, message.trimEnd() + indentedHint);

    const overlayError: OverlayError = {
      name: 'astro-snippets',
      title: 'Snippets',
      stack: message,
      message: toHtml(message),
      hint: toHtml(hint),
    };
    // A browser does not show the error page of a server island, so the overlay of the page gets the error.
    if (path.includes('/_server-islands/')) {
      // With this mark, Astro shows the HTML of the error as it is, instead of escaping it.
      const mark = { __isEnhancedAstroErrorPayload: true };
      this.#server.environments.client.hot.send({ type: 'error', ...mark, err: overlayError });
    }
    return errorPage(this.#server.config.base, overlayError, hash);
  }
}

/** The contents that can be shown, by the keys of their requests. */
function contentsOf(shownUses: readonly ShownUse[]): FetchedSnippets {
  const contents = new Map<string, FetchedSnippet>();
  for (const { request, snippet } of shownUses) {
    if (snippet.content) contents.set(request.key, snippet.content);
  }
  return contents;
}

/** Warns of embeds that may not work where they are on the page. */
function warnOfPage({ rendered, search, lines, embeds }: View, snippets: FetchedSnippets): void {
  const nestings = new NestingWarnings(snippets);
  nestings.add(rendered.path, rendered.bytes, embeds);
  for (const warning of search.headingWarnings(embeds)) lines.warn(warning);
  for (const warning of warningLines(nestings.list, search.whereWritten)) lines.warn(warning);
}

/** @throws UserError with one report of all failures, unless children are shown instead */
function refuseFailures(view: View, shownUses: readonly ShownUse[]): void {
  const { rendered, settings, search, lines, invalid, nameOf } = view;
  const failed = shownUses.flatMap(({ snippet: { content, error }, ...use }): FailedSnippet[] =>
    content || !error ? [] : [{ ...use, error, name: nameOf(use.request.id) }],
  );
  if (failed.length > 0) {
    const identities = failed.map(({ request, error }) => [request.key, failureIdentity(error)]);
    const identity = JSON.stringify([rendered.path, invalid, identities]);
    lines.warnOfFailures(identity, failureWarnings(failed).join('\n'));
  }
  throwFailures({ failed, notAsked: 0, embeds: invalid, placeOf: search.whereWritten, settings });
}

/** @throws UserError if the API key would be shown */
function inlineShown(view: View, shownUses: ShownUse[], snippets: FetchedSnippets, hash?: string): Buffer {
  const { site, settings, search, lines, embeds, nameOf } = view;
  const { path, kind, bytes } = view.rendered;
  const urlOf = (id: number) => linkOf(id, settings.editUrl, (line) => lines.warn(line));
  const facts = devFacts(search, path, settings);
  const linked = hash ? panelSnippets(shownUses, nameOf, urlOf, facts) : undefined;
  const inlinePage = pageInliner({ snippets, rules: { policy: 'none' }, site, linked, hash });
  const { bytes: inlinedBytes } = inlinePage({ name: path, kind }, bytes, embeds);
  if (containsKnownKey(inlinedBytes.toString('latin1'))) throw keyError(shownUses, path);
  return inlinedBytes;
}

function keyError(shownUses: readonly ShownUse[], path: string): UserError {
  const names = shownUses.flatMap(({ request, snippet: { content } }) =>
    content && [content.html, content.text].some(containsKnownKey) ? `snippet ${request.id}` : [],
  );
  const source = names.length > 0 ? ` in ${[...new Set(names)].join(', ')}` : '';
  return userError('published-key', `The API key was found${source} on ${path}. The page is not shown.`);
}
