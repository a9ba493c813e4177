import type { HookParameters } from 'astro';
import picomatch from 'picomatch';
import { type PanelUse, panelSnippets } from '../build/edit-links/edit-links.ts';
import { pageInliner } from '../build/inline-page.ts';
import { containsKnownKey } from '../client/api-key.ts';
import { cleanLines } from '../client/clean-text.ts';
import { UserError, userError } from '../failures/errors.ts';
import { describeNote, type FailedSnippet, failureWarnings, throwFailures } from '../failures/report.ts';
import { editUrlOf, isWithoutKey, type Settings, withoutKeyWarning } from '../settings/settings.ts';
import { canonicalPath, routeFiles } from '../settings/site-urls.ts';
import { blockFinder, pageParams, readEmbeds, type SnippetUse } from '../snippets/file-embeds.ts';
import { SourceSearch } from '../source/source-search.ts';
import { errorPage, overlayMessage, type ViewFailure } from './dev-pages.ts';
import type { DevRun } from './dev-run.ts';
import { failureLook, type RememberedSnippet, type SnippetMemory } from './snippet-memory.ts';
import type { DevRequest, TextResponse } from './text-responses.ts';

type Server = HookParameters<'astro:server:setup'>['server'];

export type ShownUse = SnippetUse & { snippet: RememberedSnippet };

/** Inlines the snippets of responses as a build does. What a build would fail for becomes an error page. */
export function responseInliner(run: DevRun, server: Server, memory: SnippetMemory) {
  const { logger } = run.site;
  const { base } = server.config;
  // By page. Each line is logged once, until it is over.
  const said = new Map<string, readonly string[]>();

  return async (response: TextResponse, request: DevRequest): Promise<TextResponse> => {
    const { settings } = run;
    const { kind, body: bytes } = response;
    const [page = '/'] = (request.originalUrl ?? '/').split('?');
    const isPage = kind === 'html';
    // By what each says, without its counts and times.
    const lines = new Map<string, () => void>();
    const warn = (line: string) => void lines.set(line, () => logger.warn(line));
    let hash: string | undefined;
    let failures: string | undefined;
    try {
      const names = [page.slice(base.length), ...(isPage ? routeFiles(page, base) : [])];
      if (names.some((name) => picomatch.isMatch(name, settings.exclude))) return response;
      const search = new SourceSearch(run.site.sources);
      const placeOf = search.whereWritten;
      const uses = new Map<string, SnippetUse>();
      const addParams = pageParams(settings.params, canonicalPath(page, isPage, run.urls));
      const { embeds, ...found } = readEmbeds({ name: page, bytes, kind, addParams }, uses);
      for (const note of found.warnings) warn(describeNote(note, placeOf));
      if (embeds.length + found.invalid.length > 0) search.refuseOnDemand(page);
      const withoutKey = uses.size > 0 && isWithoutKey(settings);
      if (withoutKey) warn(withoutKeyWarning(settings));
      // What a script fetches does not ask whether it has changed.
      const isLast = !isPage || request.headers['sec-fetch-dest'] === 'empty';
      const show = async (use: SnippetUse) => ({ ...use, snippet: await memory.get(use, isLast) });
      // In the order of the page, whatever arrives first: the toolbar lists them.
      const shown = await Promise.all(withoutKey ? [] : uses.values().map(show));
      // From here to the end at once: another page may update a snippet.
      if (shown.length > 0) hash = memory.hashOf(shown.map(({ snippet }) => snippet));
      const contents = new Map(
        shown.flatMap(({ request, snippet: { content } }) => (content ? [[request.key, content]] : [])),
      );
      const failed = shown.flatMap(({ snippet: { content, error }, ...use }): FailedSnippet[] =>
        content !== undefined || error === undefined ? [] : [{ ...use, error }],
      );
      if (isPage) {
        const blocks = blockFinder((key) => contents.get(key)?.html, placeOf);
        blocks.add(page, bytes, embeds);
        [...search.headingWarnings(embeds), ...blocks.warnings()].forEach(warn);
      }
      if (failed.length > 0) {
        const looks = failed.map((one) => [one.request.key, failureLook(one.error)]);
        failures = JSON.stringify([page, found.invalid, looks]);
        lines.set(failures, () => logger.warn(failureWarnings(failed).join('\n')));
      }
      throwFailures({ failed, notAsked: 0, embeds: found.invalid, placeOf });
      const panel = panelSnippets(shown, contents, (id) => linkOf(id, settings.editUrl, warn), describeUse);
      const linked = hash === undefined ? undefined : panel;
      const inlinePage = pageInliner({ snippets: contents, rules: { policy: 'none' }, linked, hash });
      const { file: body } = inlinePage({ name: page, kind }, bytes, embeds);
      if (containsKnownKey(body.toString('latin1'))) throw keyError(shown, page);
      return { ...response, body };
    } catch (error) {
      const failure = asFailure(error);
      lines.set(failures ?? failure.message, () => logger.error(describe(failure)));
      // The response to a server island is not shown, so the page that contains it has to show the error.
      if (page.includes('/_server-islands/')) server.environments.client.hot.send(overlayMessage(failure));
      return { status: 500, kind: 'html', body: Buffer.from(errorPage(base, failure, hash)) };
    } finally {
      // Two pages may show the same source.
      const known = new Set([...said.values()].flat());
      for (const [what, log] of lines) if (!known.has(what)) log();
      said.set(page, [...lines.keys()]);
    }
  };
}

/** Where a snippet is edited. A build with `editLinks` fails where this warns. */
export function linkOf(id: number, editUrl: Settings['editUrl'], warn: (line: string) => void) {
  try {
    return editUrl && editUrlOf(id, editUrl);
  } catch (error) {
    warn(`The dev toolbar shows no link. ${(error as Error).message}`);
    return undefined;
  }
}

export function describeUse({ request: { params }, optionalPlaces, snippet }: ShownUse): PanelUse {
  const { content, checkedAt, error } = snippet;
  const facts = [
    params,
    content?.variant,
    // That the cache has kept has taken no time.
    content && content.milliseconds > 0 && `${Math.round(content.milliseconds)} ms`,
    content && `${Buffer.byteLength(content.content)} bytes`,
    // The time of day, as Astro's own log has it.
    checkedAt && `fetched at ${new Date(checkedAt).toLocaleTimeString('en-GB')}`,
  ];
  const escaped = params && ` params='${params.replaceAll('&', '&amp;').replaceAll("'", '&#39;')}'`;
  return {
    facts: facts.filter(Boolean).join(' · '),
    error: error?.message,
    attributes: `${escaped ?? ''}${optionalPlaces?.size ? ' optional' : ''}`,
  };
}

function keyError(shown: readonly ShownUse[], page: string): UserError {
  const holdsKey = ({ snippet: { content } }: ShownUse) =>
    content && [content.html, content.text].some(containsKnownKey);
  const names = new Set(shown.filter(holdsKey).map(({ request }) => `snippet ${request.id}`));
  const source = names.size === 0 ? '' : ` in ${[...names].join(', ')}`;
  return userError('published-key', `The API key was found${source} on ${page}. The page is not shown.`);
}

export function asFailure(error: unknown): ViewFailure {
  const message = cleanLines((error as Error).message);
  if (!(error instanceof UserError)) return { message, hint: '' };
  // A report names the codes itself.
  return { message, hint: error.code === undefined ? error.hint : `${error.code}: ${error.hint}` };
}

function describe({ message, hint }: ViewFailure): string {
  if (hint === '') return message;
  return `${message.trimEnd()}\n\n  Hint:\n${hint.replaceAll(/^/gm, '    ')}\n`;
}
