import { EditLinks } from '../build/edit-links/edit-links.ts';
import { pageInliner } from '../build/inline-page.ts';
import { keyDetector } from '../client/api-key.ts';
import { cleanLines } from '../client/clean-text.ts';
import { UserError, userError } from '../failures/errors.ts';
import {
  childrenWarnings,
  describeNote,
  type FailedSnippet,
  type InvalidEmbed,
  type PlaceOf,
  throwFailures,
} from '../failures/report.ts';
import { isWithoutKey, withoutKeyWarning } from '../settings/settings.ts';
import { canonicalPath } from '../settings/site-urls.ts';
import {
  blockFinder,
  pageParams,
  readEmbeds,
  type SnippetUse,
  type SnippetUses,
} from '../snippets/file-embeds.ts';
import { SourceSearch } from '../source/source-search.ts';
import type { DevRun } from './dev-run.ts';
import { type EditUrlOf, panelSnippets } from './panel-data.ts';
import { failureLook, type Shown, type ShownOnPage } from './served-pages.ts';
import type { SnippetMemory } from './snippet-memory.ts';
import type { TextResponse } from './text-responses.ts';

/** A response with its snippets. */
export interface View {
  body: Buffer;
  /** Of what it shows, if it is a page that shows snippets. */
  hash: string | undefined;
  /** Snippets that could not be fetched. */
  failed: readonly FailedSnippet[];
  /** What a build would fail for. */
  failure: ViewFailure | undefined;
  /** What a build would warn about. The page does not wait for it. Never rejects. */
  warnings: Promise<string[]>;
}

/** What a view is made with. */
export interface Viewing {
  run: DevRun;
  memory: SnippetMemory;
  editUrlOf: EditUrlOf;
  /** Called with what is shown. Returns the hash of a page. */
  onShown(shown: Shown): string | undefined;
}

/** Inlines the snippets of a response with the same scan, fetch and inline as in a build. */
export async function viewOf(
  { body: bytes, kind }: TextResponse,
  page: string,
  { run: { settings, sources, urls }, memory, editUrlOf, onShown }: Viewing,
): Promise<View> {
  const uses: SnippetUses = new Map();
  const isPage = kind === 'html';
  const search = new SourceSearch(sources);
  const addParams = pageParams(settings.params, canonicalPath(page, isPage, urls));
  const { embeds, ...found } = readEmbeds({ name: page, bytes, kind, addParams }, uses);
  const refused = embeds.length + found.invalid.length === 0 ? undefined : search.onDemandError(page);
  if (refused !== undefined) throw refused;
  const placeOf: PlaceOf = (sought) => search.whereWritten(sought);
  const withoutKey = uses.size > 0 && isWithoutKey(settings);
  const show = async ([key, use]: [string, SnippetUse]): Promise<[string, ShownOnPage]> => {
    const snippet = await memory.get(use, !isPage);
    const hasChildren = use.placesWithoutChildren.length === 0;
    return [key, { snippet, hasChildren, isOptional: use.optionalPlaces?.has(page) === true }];
  };
  // In the order of the page, whatever arrives first: the toolbar lists them.
  const shown: Shown = new Map(await Promise.all(withoutKey ? [] : [...uses].map(show)));
  // From here to the end at once: another page may update a snippet.
  const hash = onShown(shown);
  const contents = new Map(
    [...shown].flatMap(([key, { snippet }]) =>
      snippet.content === undefined ? [] : [[key, snippet.content]],
    ),
  );
  const failed = [...uses].flatMap(([key, use]): FailedSnippet[] => {
    const error = shown.get(key)?.snippet.error;
    return error === undefined || contents.has(key) ? [] : [{ ...use, error }];
  });
  const failure = viewFailure(failed, found.invalid, placeOf);
  const editLinks = hash === undefined ? undefined : new EditLinks(panelSnippets(shown, editUrlOf), hash);
  const inlinePage = pageInliner({ snippets: contents, rules: { policy: 'none' }, editLinks });
  const { file: body } = inlinePage({ name: page, kind }, bytes, failure === undefined ? embeds : []);
  const warnings = async () => {
    const blocks = blockFinder((key) => contents.get(key)?.html, placeOf);
    if (isPage) blocks.add(page, bytes, embeds);
    const headings = isPage ? search.headingWarnings(embeds) : [];
    const noKey = withoutKey ? [withoutKeyWarning(settings)] : [];
    const notes = found.warnings.map((note) => describeNote(note, placeOf));
    return [...noKey, ...notes, ...headings, ...blocks.warnings()];
  };
  const shownKey = publishedKey(body, [...shown.values()], page, settings.apiKey);
  return { body, hash, failed, failure: failure ?? shownKey, warnings: warnings() };
}

/** The failure of a response that contains the API key. A build fails for it, too. */
function publishedKey(
  body: Buffer,
  shown: readonly ShownOnPage[],
  page: string,
  apiKey: string | undefined,
): ViewFailure | undefined {
  if (apiKey === undefined) return undefined;
  const containsKey = keyDetector(apiKey);
  if (!containsKey(body)) return undefined;
  const holding = shown.filter(({ snippet: { content } }) => {
    return content !== undefined && [content.html, content.text].some(containsKey);
  });
  const ids = [...new Set(holding.map(({ snippet }) => snippet.request.id))];
  const source =
    ids.length === 0 ? '' : `${ids.length === 1 ? ' in snippet' : ' in snippets'} ${ids.join(', ')}`;
  return asViewFailure(
    userError('published-key', `The API key was found${source} on ${page}. The page is not shown.`),
  );
}

/** Why a page is not shown, or shows children. */
export interface ViewFailure {
  message: string;
  hint: string;
  /** Equal for failures that differ in nothing but counts of attempts and seconds. */
  identity: string;
}

/** What a build with this page would fail for; `undefined` if it would not. */
export function viewFailure(
  failed: readonly FailedSnippet[],
  invalid: readonly InvalidEmbed[],
  placeOf: PlaceOf,
): ViewFailure | undefined {
  try {
    throwFailures({ failed, notAsked: 0, embeds: invalid, placeOf });
    return undefined;
  } catch (error) {
    return { ...asViewFailure(error), identity: JSON.stringify([invalid, looksOf(failed)]) };
  }
}

/** Says that children are shown; `undefined` if they are not. */
export function childrenShown(failed: readonly FailedSnippet[]): ViewFailure | undefined {
  if (failed.length === 0) return undefined;
  return {
    message: cleanLines(childrenWarnings(failed).join('\n')),
    hint: '',
    identity: JSON.stringify(looksOf(failed)),
  };
}

export function asViewFailure(error: unknown): ViewFailure {
  const message = cleanLines((error as UserError).message);
  const hint = cleanLines((error as UserError).hint ?? '');
  const code = error instanceof UserError ? error.code : undefined;
  // A report names the codes itself.
  return { message, hint: code === undefined ? hint : `${code}: ${hint}`, identity: message };
}

function looksOf(failed: readonly FailedSnippet[]): [key: string, look: string][] {
  return failed.map(({ request, error }) => [request.key, failureLook(error)]);
}

/** Logs what is wrong with a page once, until that changes or is over. */
export class FailureLog {
  readonly #last = new Map<string, string>();

  /** @param failure `undefined` if the page is fine. */
  report(page: string, failure: ViewFailure | undefined, log: (line: string) => void): void {
    if (failure === undefined) {
      this.#last.delete(page);
      return;
    }
    if (this.#last.get(page) === failure.identity) return;
    this.#last.set(page, failure.identity);
    log(describe(failure));
  }
}

/** Logs each warning about a page once, until the page is without it. */
export class WarningLog {
  readonly #last = new Map<string, ReadonlySet<string>>();

  /** @param warnings all that concern the page now. */
  report(page: string, warnings: readonly string[], log: (line: string) => void): void {
    // Two pages may show the same source.
    const known = new Set([...this.#last.values()].flatMap((lines) => [...lines]));
    const lines = new Set(warnings);
    for (const line of lines) if (!known.has(line)) log(line);
    if (lines.size === 0) this.#last.delete(page);
    else this.#last.set(page, lines);
  }
}

function describe({ message, hint }: ViewFailure): string {
  if (hint === '') return message;
  return `${message.trimEnd()}\n\n  Hint:\n${hint.replaceAll(/^/gm, '    ')}\n`;
}
