import type { AstroIntegrationLogger } from 'astro';
import picomatch from 'picomatch';
import type { ViteDevServer } from 'vite';
import type { FileKind } from '../embed/found-embed.ts';
import type { FailedSnippet } from '../failures/describe-failures.ts';
import { describeNote } from '../failures/embed-notes.ts';
import { UserError, userError } from '../failures/errors.ts';
import { throwFailures } from '../failures/failure-report.ts';
import { failureWarnings } from '../failures/failure-warnings.ts';
import { panelSnippets } from '../inlining/edit-links/edit-links.ts';
import { pageInliner } from '../inlining/inline-page.ts';
import { isWithoutKey, withoutKeyWarning } from '../settings/connection.ts';
import type { Settings } from '../settings/settings.ts';
import { canonicalPath, routeFiles, type SiteUrls } from '../settings/site-urls.ts';
import { BlockWarnings } from '../snippets/block-warnings.ts';
import { pageParams } from '../snippets/page-params.ts';
import { readEmbeds } from '../snippets/read-embeds.ts';
import type { SnippetUse } from '../snippets/snippet-use.ts';
import type { SiteSource } from '../source/site-source.ts';
import { SourceSearch } from '../source/source-search.ts';
import { cleanLines } from '../text/clean-text.ts';
import { containsKnownKey } from '../text/known-keys.ts';
import { asHtml, errorPage } from './error-page.ts';
import { failureIdentity, type SnippetMemory } from './snippet-memory.ts';
import { describeUse, linkOf, type ShownUse } from './toolbar-facts.ts';

/** The site of a dev server, as its pages need it. */
export interface ServedSite {
  /** Those of now: they change with the `.env` files. */
  readonly settings: Settings;
  readonly urls: SiteUrls;
  readonly site: { logger: AstroIntegrationLogger; sources: SiteSource };
}

/** As a build does. What a build would fail for becomes the HTML of an error page. */
export function openInlineView(run: ServedSite, server: ViteDevServer, memory: SnippetMemory) {
  const { logger, sources } = run.site;
  const { base } = server.config;
  // By page: each line is logged once, until it is over.
  const said = new Map<string, readonly string[]>();

  return async (
    page: string,
    kind: FileKind,
    bytes: Buffer,
    isFetched: boolean,
  ): Promise<string | Buffer<ArrayBufferLike>> => {
    const { settings, urls } = run;
    const isPage = kind === 'html';
    // By what each says, without its counts and times.
    const lines = new Map<string, () => void>();
    const warn = (line: string) => void lines.set(line, () => logger.warn(line));
    let hash: string | undefined;
    let failures: string | undefined;
    try {
      const names = [page.slice(base.length), ...(isPage ? routeFiles(page, base) : [])];
      if (names.some((name) => picomatch.isMatch(name, settings.exclude))) return bytes;
      const search = new SourceSearch(sources);
      const placeOf = search.whereWritten;
      const uses = new Map<string, SnippetUse>();
      const addParams = pageParams(settings.params, canonicalPath(page, isPage, urls));
      const { embeds, invalid, warnings } = readEmbeds({ name: page, bytes, kind, addParams }, uses);
      for (const note of warnings) warn(describeNote(note, placeOf));
      if (embeds.length + invalid.length > 0) search.refuseOnDemand(page);
      const withoutKey = uses.size > 0 && isWithoutKey(settings);
      if (withoutKey) warn(withoutKeyWarning(settings));
      // A script does not ask again about what it has fetched.
      const isLast = !isPage || isFetched;
      const show = async (use: SnippetUse) => ({ ...use, snippet: await memory.get(use, isLast) });
      // In the order of the page, as the toolbar lists them.
      const shown = await Promise.all(withoutKey ? [] : uses.values().map(show));
      // Nothing is awaited from here: another page may update a snippet.
      if (shown.length > 0) hash = memory.hashOf(shown.map(({ snippet }) => snippet));
      const snippets = new Map(
        shown.flatMap(({ request, snippet: { content } }) => (content ? [[request.key, content]] : [])),
      );
      const failed = shown.flatMap(({ snippet: { content, error }, ...use }): FailedSnippet[] =>
        content || !error ? [] : [{ ...use, error }],
      );
      if (isPage) {
        const blocks = new BlockWarnings((key) => snippets.get(key)?.html, placeOf);
        blocks.add(page, bytes, embeds);
        [...search.headingWarnings(embeds), ...blocks.warnings()].forEach(warn);
      }
      if (failed.length > 0) {
        const looks = failed.map(({ request, error }) => [request.key, failureIdentity(error)]);
        failures = JSON.stringify([page, invalid, looks]);
        lines.set(failures, () => logger.warn(failureWarnings(failed).join('\n')));
      }
      throwFailures({ failed, notAsked: 0, embeds: invalid, placeOf });
      const panel = panelSnippets(shown, snippets, (id) => linkOf(id, settings.editUrl, warn), describeUse);
      const linked = hash ? panel : undefined;
      const inlinePage = pageInliner({ snippets, rules: { policy: 'none' }, linked, hash });
      const { bytes: inlined } = inlinePage({ name: page, kind }, bytes, embeds);
      if (containsKnownKey(inlined.toString('latin1'))) throw keyError(shown, page);
      return inlined;
    } catch (error) {
      const message = cleanLines((error as Error).message);
      const { code, hint: next = '' }: Partial<UserError> = error instanceof UserError ? error : {};
      // A report names the codes itself.
      const hint = code ? `${code}: ${next}` : next;
      const more = hint && `\n\n  Hint:\n${hint.replaceAll(/^/gm, '    ')}\n`;
      lines.set(failures ?? message, () => logger.error(message.trimEnd() + more));
      // Astro's error overlay expects HTML.
      const html = { message: asHtml(message), hint: asHtml(hint) };
      const err = { name: 'astro-snippets', title: 'Snippets', stack: message, ...html };
      // The response of a server island is not shown. Astro escapes what is not marked.
      const payload = { type: 'error' as const, __isEnhancedAstroErrorPayload: true, err };
      if (page.includes('/_server-islands/')) server.environments.client.hot.send(payload);
      return errorPage(base, err, hash);
    } finally {
      // Two pages may show the same source.
      const known = new Set([...said.values()].flat());
      for (const [what, log] of lines) if (!known.has(what)) log();
      said.set(page, [...lines.keys()]);
    }
  };
}

function keyError(shown: readonly ShownUse[], page: string) {
  const names = shown.flatMap(({ request, snippet: { content } }) =>
    content && [content.html, content.text].some(containsKnownKey) ? `snippet ${request.id}` : [],
  );
  const source = names[0] ? ` in ${[...new Set(names)].join(', ')}` : '';
  return userError('published-key', `The API key was found${source} on ${page}. The page is not shown.`);
}
