import type { HookParameters } from 'astro';
import { inline } from '../embed/inline.ts';
import { type FailedSnippet, throwFailures } from '../failures/report.ts';
import type { UserError } from '../failures/user-error.ts';
import type { Settings } from '../settings/settings.ts';
import type { SnippetFetcher } from '../snippets/fetch-snippets.ts';
import { type PageEmbeds, readPageEmbeds, type SnippetUses } from '../snippets/page-embeds.ts';
import { errorPage } from './error-page.ts';
import { type HtmlResponse, transformHtml } from './html-responses.ts';
import { OpenPages } from './open-pages.ts';
import { type RememberedSnippet, SnippetMemory } from './snippet-memory.ts';
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
): void {
  const pages = new OpenPages();
  const { hot } = server.environments.client;

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
    transformHtml(async (response, request) => {
      const [page = '/'] = (request.originalUrl ?? '/').split('?');
      try {
        return await inlineInto(response, page, memory, pages);
      } catch (error) {
        const { message, hint = '' } = error as UserError;
        logger.error(message);
        return { status: 500, html: Buffer.from(errorPage(server.config.base, { message, hint })) };
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

async function inlineInto(
  response: HtmlResponse,
  page: string,
  memory: SnippetMemory,
  pages: OpenPages,
): Promise<HtmlResponse> {
  const uses: SnippetUses = new Map();
  const found = readPageEmbeds(page, response.html, uses);
  if (found.embeds.length + found.invalid.length === 0) return response;
  const snippets = new Map<string, RememberedSnippet>();
  await Promise.all([...uses].map(async ([key, use]) => snippets.set(key, await memory.get(use))));
  pages.serve(page, [...uses.keys()]);
  failAsBuild(found, uses, snippets);
  return {
    status: response.status,
    html: inline(response.html, found.embeds, ({ request: { key } }, asText) => {
      const { content, html } = snippets.get(key) ?? {};
      // Where only text is possible, a comment would be text too.
      if (content === undefined || asText) return content;
      return `<!--${markers.start(key)}-->${html}<!--${markers.end(key)}-->`;
    }).page,
  };
}

/** @throws AstroError with the report of a build, if a build would fail. */
function failAsBuild(
  { invalid }: PageEmbeds,
  uses: SnippetUses,
  snippets: ReadonlyMap<string, RememberedSnippet>,
): void {
  const failed = [...uses].flatMap(([key, use]): FailedSnippet[] => {
    const { error, content } = snippets.get(key) ?? {};
    return error === undefined || content !== undefined ? [] : [{ ...use, error }];
  });
  throwFailures({ failed, notAsked: 0, embeds: invalid });
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
