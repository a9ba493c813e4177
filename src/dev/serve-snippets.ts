import { resolve } from 'node:path';
import type { HookParameters } from 'astro';
import { z } from 'zod';
import { pageInliner } from '../build/inline-page.ts';
import { excluder } from '../build/scan-site.ts';
import { keyDetector } from '../client/api-key.ts';
import type { FileKind } from '../embed/scan.ts';
import { type UserError, userError } from '../failures/errors.ts';
import type { FailedSnippet } from '../failures/report.ts';
import { astroVersion, escapesErrors } from '../settings/astro-version.ts';
import { isWithoutKey, withoutKeyWarning } from '../settings/settings.ts';
import { canonicalPath } from '../settings/site-urls.ts';
import {
  blockWarnings,
  type FileEmbed,
  pageParams,
  readEmbeds,
  type SnippetUses,
} from '../snippets/file-embeds.ts';
import { headingWarnings, idsInHeadings } from '../source/heading-warnings.ts';
import { withSources } from '../source/markdown-sources.ts';
import { onDemandError, type SiteSource } from '../source/on-demand-routes.ts';
import type { DevRun } from './dev-run.ts';
import { errorPage, escapeOwnErrors, overlayMessage } from './error-page.ts';
import { OpenPages, type ShownOnPage } from './open-pages.ts';
import { listener } from './page-messages.ts';
import { type ChangedMessage, type OpenMessage, pageEvents } from './page-script.ts';
import { serveImages } from './serve-images.ts';
import { SnippetMemory, shownContent } from './snippet-memory.ts';
import { type DevRequest, type TextResponse, transformTexts } from './text-responses.ts';
import { markOf } from './toolbar/messages.ts';
import { serveToolbar } from './toolbar/serve-toolbar.ts';
import {
  asViewFailure,
  childrenShown,
  FailureLog,
  type ViewFailure,
  viewFailure,
  WarningLog,
} from './view-failure.ts';

const pollSeconds = 2;

const openSchema = z.object({ page: z.string() });

// In milliseconds: until a tool has made CSS for classes that are new.
const stylesPause = 150;

/**
 * Inlines snippets into the pages of `astro dev` as they are served, with the same scan, fetch and inline as in a
 * build. The snippets of pages that are open in a browser are polled; a page reloads when what it shows has changed.
 */
export function serveSnippets(
  { server, refreshContent }: HookParameters<'astro:server:setup'>,
  run: DevRun,
  source: SiteSource,
): void {
  const { logger, config } = run.site;
  const warn = (line: string) => logger.warn(line);
  const pages = new OpenPages();
  const { sources } = run;
  const { hot } = server.environments.client;
  if (!escapesErrors(astroVersion(sources.root))) escapeOwnErrors(hot);
  const refusal = (page: string) => onDemandError(page, config.base, source, server);

  const memory = new SnippetMemory(async (use) => (await run.open()).get(use), {
    onUpdate({ request }) {
      const changed: ChangedMessage = { pages: pages.changed(request.key) };
      if (changed.pages.length > 0) hot.send(pageEvents.changed, changed);
    },
    onStale({ request, error }) {
      logger.warn(`${error?.message} Snippet ${request.id} is shown as it was last fetched.`);
      toolbar.update(request.key);
    },
    onFlaw: (flaw) => logger.warn(flaw),
    onRecovered: ({ request }) => toolbar.update(request.key),
  });
  const toolbar = serveToolbar({
    hot,
    memory,
    pages,
    settings: () => run.settings,
    refreshCollections: () => refreshContent?.({ loaders: ['astro-snippets'] }),
    warn,
  });
  listener(hot, warn)<OpenMessage>(pageEvents.open, openSchema, ({ page }, client) => {
    if (pages.isOutdated(page)) client.send(pageEvents.changed, { pages: [page] });
  });

  const log = new FailureLog();
  const warnings = new WarningLog();
  server.middlewares.use(
    serveImages(
      () => run.settings,
      async (name) => (await run.open()).readImage(name),
    ),
  );
  server.middlewares.use(
    transformTexts(async (response, request) => {
      const [page = '/'] = (request.originalUrl ?? '/').split('?');
      try {
        const { settings } = run;
        if (excluder(settings.exclude)(nameOf(page, config.base))) return response;
        const view = await viewOf(response, page, run, memory, refusal);
        void view.warnings.then((lines) => warnings.report(page, lines, (line) => logger.warn(line)));
        const parent = parentOf(request, response);
        if (parent === undefined) pages.serve(page, view.shown);
        else pages.addTo(parent, view.shown);
        if (view.failure === undefined) {
          refuseKey(view, page, settings.apiKey);
          log.report(page, childrenShown(view.failed), (line) => logger.warn(line));
          return { ...response, body: view.body };
        }
        return fail(page, view.failure);
      } catch (error) {
        return fail(page, asViewFailure(error));
      }
    }),
  );
  const fail = (page: string, failure: ViewFailure): TextResponse => {
    log.report(page, failure, (line) => logger.error(line));
    // The response to a server island is not shown, so the page that contains it has to show the error.
    if (page.includes('/_server-islands/')) hot.send(overlayMessage(failure));
    return { status: 500, kind: 'html', body: Buffer.from(errorPage(server.config.base, failure)) };
  };

  // A page that has loaded without the new styles has to load again. Vite's own message does nothing, since the name of
  // the file ends in `.html`.
  let restyling: NodeJS.Timeout | undefined;
  server.watcher.on('all', (_, file) => {
    if (run.classFile === undefined || resolve(file) !== run.classFile) return;
    clearTimeout(restyling);
    restyling = setTimeout(() => {
      const changed: ChangedMessage = { pages: pages.restyle() };
      if (changed.pages.length > 0) hot.send(pageEvents.changed, changed);
    }, stylesPause).unref();
  });

  const timer = setInterval(() => {
    // What cannot be handled here, such as a key that is missing now, is shown with the next view of the page.
    for (const key of pages.keys(server.ws.clients.size)) memory.update(key).catch(() => {});
  }, pollSeconds * 1000).unref();
  server.httpServer?.once('close', () => {
    clearInterval(timer);
    void run.close();
  });
}

/** A response with its snippets. */
interface View {
  body: Buffer;
  shown: ReadonlyMap<string, ShownOnPage>;
  /** Snippets that could not be fetched. */
  failed: readonly FailedSnippet[];
  /** What a build would fail for. */
  failure: ViewFailure | undefined;
  /** What a build would warn about. The page does not wait for it. Never rejects. */
  warnings: Promise<string[]>;
}

/** @param refusal why a page may contain no embeds. */
async function viewOf(
  response: TextResponse,
  page: string,
  { settings, sources, urls }: DevRun,
  memory: SnippetMemory,
  refusal: (page: string) => UserError | undefined,
): Promise<View> {
  const uses: SnippetUses = new Map();
  const { body: bytes, kind } = response;
  const addParams = pageParams(settings.params, canonicalPath(page, kind === 'html', urls));
  const { embeds, ...found } = readEmbeds({ name: page, bytes, kind, addParams }, uses);
  const refused = embeds.length + found.invalid.length === 0 ? undefined : refusal(page);
  if (refused !== undefined) throw refused;
  const invalid = await withSources(found.invalid, sources);
  const withoutKey = uses.size > 0 && isWithoutKey(settings);
  // In the order of the page, whatever arrives first: the toolbar lists them.
  const shown = new Map<string, ShownOnPage>(
    await Promise.all(
      [...(withoutKey ? [] : uses)].map(
        async ([key, use]) =>
          [
            key,
            {
              snippet: await memory.get(use),
              hasChildren: use.placesWithoutChildren.length === 0,
              isOptional: use.optionalPlaces?.has(page) === true,
            },
          ] as const,
      ),
    ),
  );
  const contentOf = (key: string) => {
    const snippet = shown.get(key)?.snippet;
    return snippet && shownContent(snippet);
  };
  const failed = [...uses].flatMap(([key, use]): FailedSnippet[] => {
    const error = shown.get(key)?.snippet.error;
    return error === undefined || contentOf(key) !== undefined ? [] : [{ ...use, error }];
  });
  const failure = viewFailure(failed, invalid);
  const contents = [...shown.keys()].flatMap((key) => {
    const content = contentOf(key);
    return content === undefined ? [] : [[key, { ...content, inlineCode: undefined }] as const];
  });
  const inlinePage = pageInliner({ snippets: new Map(contents), rules: { policy: 'none' }, markOf });
  const { file: body } = inlinePage(
    { name: page, kind },
    bytes,
    failure === undefined ? embeds.map((embed) => marked(embed, kind)) : [],
  );
  const warnings = async () => {
    const isPage = response.kind === 'html';
    const htmlOf = (key: string) => contentOf(key)?.html;
    const blocks = isPage ? blockWarnings([{ name: page, embeds, read: () => response.body }], htmlOf) : [];
    // A source may be removed while it is read.
    const headings = isPage ? await headingWarnings(idsInHeadings(embeds), sources).catch(() => []) : [];
    return [...(withoutKey ? [withoutKeyWarning(settings)] : []), ...found.warnings, ...headings, ...blocks];
  };
  return { body, shown, failed, failure, warnings: warnings() };
}

/** Only where the elements of a page may stand is a comment none that people see. */
function marked(embed: FileEmbed, kind: FileKind): FileEmbed {
  const { form } = embed;
  const isElement = kind === 'html' && form.as === 'html' && form.layers.length === 0;
  return isElement ? { ...embed, form: { ...form, isMarked: true } } : embed;
}

/** @throws AstroError if a response contains the API key, as a build does. */
function refuseKey({ body, shown }: View, page: string, apiKey: string | undefined): void {
  if (apiKey === undefined) return;
  const containsKey = keyDetector(apiKey);
  if (!containsKey(body)) return;
  const snippets = [...shown.values()].filter(({ snippet }) => {
    const { html = '', text = '' } = shownContent(snippet) ?? {};
    return [html, text].some(containsKey);
  });
  const ids = [...new Set(snippets.map(({ snippet }) => snippet.request.id))];
  const source =
    ids.length === 0 ? '' : `${ids.length === 1 ? ' in snippet' : ' in snippets'} ${ids.join(', ')}`;
  throw userError('published-key', `The API key was found${source} on ${page}. The page is not shown.`);
}

/** The page whose script fetched this response: JSON, or HTML that is not a page of its own. */
function parentOf({ headers }: DevRequest, { kind, body }: TextResponse): string | undefined {
  if (headers['sec-fetch-dest'] !== 'empty' || headers.referer === undefined) return undefined;
  const isPage = kind === 'html' && /^\s*<(!doctype|html)\b/i.test(body.toString('latin1', 0, 1000));
  return isPage || !URL.canParse(headers.referer) ? undefined : new URL(headers.referer).pathname;
}

/** The path of a page in the output. */
function nameOf(page: string, base: string): string {
  const root = base.replace(/\/?$/, '/');
  const inside = page.startsWith(root) ? page.slice(root.length) : page.replace(/^\//, '');
  return inside === '' || inside.endsWith('/') ? `${inside}index.html` : inside;
}
