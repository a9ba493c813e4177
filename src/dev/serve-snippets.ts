import { fileURLToPath } from 'node:url';
import type { HookParameters } from 'astro';
import { inline } from '../embed/inline.ts';
import { type FailedSnippet, type InvalidEmbed, throwFailures } from '../failures/report.ts';
import type { UserError } from '../failures/user-error.ts';
import type { Settings } from '../settings/settings.ts';
import type { SnippetFetcher } from '../snippets/fetch-snippets.ts';
import { excluder, readEmbeds, type SnippetUses } from '../snippets/file-embeds.ts';
import { type SourceFolders, withSources } from '../source/markdown-sources.ts';
import { onDemandError, type SiteSource } from '../source/on-demand-routes.ts';
import { errorPage, overlayError } from './error-page.ts';
import { OpenPages } from './open-pages.ts';
import { type RememberedSnippet, SnippetMemory } from './snippet-memory.ts';
import { type TextResponse, transformTexts } from './text-responses.ts';
import {
  events,
  type ListMessage,
  markers,
  type RefreshMessage,
  type ShownSnippet,
  type SnippetsMessage,
} from './toolbar/messages.ts';

const pollSeconds = 2;

/** What the dev server needs of the run. */
interface DevRun {
  readonly settings: Settings;
  readonly config: { root: URL; srcDir: URL; base: string };
  open(): Promise<{ fetcher: SnippetFetcher }>;
  close(): Promise<void>;
}

/**
 * Inlines snippets into the pages of `astro dev` as they are served, with the same scan, fetch and inline as in a
 * build. The snippets of pages that are open in a browser are polled; when one has changed, the page reloads.
 */
export function serveSnippets(
  { server, toolbar, logger, refreshContent }: HookParameters<'astro:server:setup'>,
  run: DevRun,
  source: SiteSource,
): void {
  const pages = new OpenPages();
  const sources = { root: fileURLToPath(run.config.root), srcDir: fileURLToPath(run.config.srcDir) };
  const { hot } = server.environments.client;
  const refusal = (page: string) => onDemandError(page, run.config.base, source, server);

  const sendSnippets = (page: string) => {
    const shown = pages.of(page).flatMap((key) => memory.peek(key) ?? []);
    toolbar.send<SnippetsMessage>(events.snippets, {
      page,
      snippets: shown.map((one) => describe(one, run.settings.editUrl)),
    });
  };
  const sendToPagesWith = (key: string) => {
    for (const page of pages.showing(key)) sendSnippets(page);
  };
  const memory = new SnippetMemory(async (use) => (await run.open()).fetcher.get(use), {
    onChange: () => hot.send({ type: 'full-reload' }),
    onStale({ request, error }) {
      logger.warn(`${error?.message} Snippet ${request.id} is shown as it was last fetched.`);
      sendToPagesWith(request.key);
    },
    onFlaw: (flaw) => logger.warn(flaw),
    onRecovered: ({ request }) => sendToPagesWith(request.key),
  });

  server.middlewares.use(
    transformTexts(async (response, request) => {
      const [page = '/'] = (request.originalUrl ?? '/').split('?');
      try {
        if (excluder(run.settings.exclude)(nameOf(page, server.config.base))) return response;
        return await inlineInto(response, page, { memory, pages, sources, refusal });
      } catch (error) {
        const { message, hint = '' } = error as UserError;
        logger.error(message);
        // The answer to a server island is not shown: the page that holds it has to show the error.
        if (page.includes('/_server-islands/'))
          hot.send({ type: 'error', err: overlayError({ message, hint }) });
        const body = Buffer.from(errorPage(server.config.base, { message, hint }));
        return { status: 500, kind: 'html', body };
      }
    }),
  );

  toolbar.on<ListMessage>(events.list, ({ page }) => sendSnippets(page));
  toolbar.on<RefreshMessage>(events.refresh, async ({ page, key }) => {
    await Promise.all([memory.update(key), refreshContent?.({ loaders: ['astro-snippets'] })]);
    sendSnippets(page);
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

interface Served {
  memory: SnippetMemory;
  pages: OpenPages;
  sources: SourceFolders;
  /** Why a page may hold no embeds. */
  refusal(page: string): UserError | undefined;
}

async function inlineInto(
  response: TextResponse,
  page: string,
  { memory, pages, sources, refusal }: Served,
): Promise<TextResponse> {
  const uses: SnippetUses = new Map();
  const { embeds, invalid } = readEmbeds(page, response.body, response.kind, uses);
  if (embeds.length + invalid.length === 0) return response;
  const refused = refusal(page);
  if (refused !== undefined) throw refused;
  const snippets = new Map<string, RememberedSnippet>();
  await Promise.all([...uses].map(async ([key, use]) => snippets.set(key, await memory.get(use))));
  pages.serve(page, [...uses.keys()]);
  failAsBuild(await withSources(invalid, sources), uses, snippets);
  return {
    ...response,
    body: inline(response.body, embeds, ({ request: { key }, form }) => {
      const { html, text } = snippets.get(key) ?? {};
      if (html === undefined || text === undefined) return undefined;
      // Only the elements of a page can be marked.
      if (response.kind !== 'html' || form.layers.length > 0) return { html, text };
      return { html: `<!--${markers.start(key)}-->${html}<!--${markers.end(key)}-->`, text };
    }).file,
  };
}

/** @throws AstroError with the report of a build, if a build would fail. */
function failAsBuild(
  invalid: readonly InvalidEmbed[],
  uses: SnippetUses,
  snippets: ReadonlyMap<string, RememberedSnippet>,
): void {
  const failed = [...uses].flatMap(([key, use]): FailedSnippet[] => {
    const { error, content } = snippets.get(key) ?? {};
    return error === undefined || content !== undefined ? [] : [{ ...use, error }];
  });
  throwFailures({ failed, notAsked: 0, embeds: invalid });
}

/** The path of a page in the output. */
function nameOf(page: string, base: string): string {
  const inside = page.startsWith(base) ? page.slice(base.length) : page.replace(/^\//, '');
  return inside === '' || inside.endsWith('/') ? `${inside}index.html` : inside;
}

function describe(
  { request, name, variant, milliseconds, content, checkedAt, error }: RememberedSnippet,
  editUrl: Settings['editUrl'],
): ShownSnippet {
  const { key, id, params } = request;
  return {
    key,
    id,
    name,
    params,
    variant,
    milliseconds,
    bytes: content === undefined ? undefined : Buffer.byteLength(content),
    checkedAt,
    error: error?.message,
    editUrl: editUrl?.(String(id)),
  };
}
