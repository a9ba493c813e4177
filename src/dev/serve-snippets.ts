import type { AstroIntegration } from 'astro';
import { createSource } from '../create-source.ts';
import { inline } from '../embed/index.ts';
import type { Settings } from '../options.ts';
import type { SnippetSource } from '../snippet-source.ts';
import { throwFailures } from '../wanted/failures.ts';
import { type PageEmbeds, readPageEmbeds, type WantedSnippets } from '../wanted/page-embeds.ts';
import { errorPage } from './error-page.ts';
import { type HtmlAnswer, transformHtml } from './html-responses.ts';
import { OpenPages } from './open-pages.ts';
import { type RememberedSnippet, SnippetMemory } from './snippet-memory.ts';
import {
  events,
  markers,
  type PageQuestion,
  type PageSnippets,
  type RefreshQuestion,
  type ShownSnippet,
} from './toolbar/messages.ts';

/** Somebody waits for the page: fewer attempts than a build makes, and a service that is back is soon found. */
const limits = {
  attempts: 3,
  fallbacksInARow: Number.POSITIVE_INFINITY,
  deadline: 20_000,
  breakerProbe: 2_000,
  breakerPatience: 5_000,
};

const secondsBetweenQuestions = 2;

type DevServer = Parameters<NonNullable<AstroIntegration['hooks']['astro:server:setup']>>[0];

/**
 * Puts snippets into the pages of `astro dev` as they are served: the same scan, fetch and inline as in a build.
 * While a page is open its snippets are asked for again now and then, and when one has changed the page reloads.
 *
 * @param settings asked for with each page: the environment is read again when a `.env` file changes.
 */
export function serveSnippets(
  { server, toolbar, logger, refreshContent }: DevServer,
  settings: () => Settings,
): void {
  const pages = new OpenPages();
  const { hot } = server.environments.client;
  let memory: SnippetMemory | undefined;
  let source: SnippetSource | undefined;

  const tell = (page: string) => {
    const shown = pages.of(page).flatMap((key) => memory?.peek(key) ?? []);
    toolbar.send<PageSnippets>(events.snippets, {
      page,
      snippets: shown.map((one) => describe(one, settings().editUrl)),
    });
  };
  const remember = (page: string) => {
    source ??= createSource(settings(), `${page} holds an embed`, {
      limits,
      warn: (line) => logger.warn(line),
      alwaysAsk: true,
    });
    memory ??= new SnippetMemory(source, () => settings().html, {
      onChange: () => hot.send({ type: 'full-reload' }),
      onOld({ key, id, error }) {
        logger.warn(`${error?.message} Snippet ${id} is shown as it was last fetched.`);
        for (const shown of pages.showing(key)) tell(shown);
      },
      onFlaw: (flaw) => logger.warn(flaw),
      onBack({ key }) {
        for (const shown of pages.showing(key)) tell(shown);
      },
    });
    return memory;
  };

  server.middlewares.use(
    transformHtml(async (answer, request) => {
      const [page = '/'] = (request.originalUrl ?? '/').split('?');
      try {
        return await inlineInto(answer, page, remember, pages);
      } catch (error) {
        const { message, hint = '' } = error as Error & { hint?: string };
        logger.error(message);
        return { status: 500, html: Buffer.from(errorPage(server.config.base, { message, hint })) };
      }
    }),
  );

  toolbar.on<PageQuestion>(events.ask, ({ page }) => tell(page));
  toolbar.on<RefreshQuestion>(events.refresh, async ({ page, key }) => {
    await Promise.all([memory?.ask(key), refreshContent?.({ loaders: ['astro-snippets'] })]);
    tell(page);
  });

  const timer = setInterval(() => {
    for (const key of pages.keys(server.ws.clients.size)) void memory?.ask(key);
  }, secondsBetweenQuestions * 1000).unref();
  server.httpServer?.once('close', () => {
    clearInterval(timer);
    void source?.close();
  });
}

async function inlineInto(
  answer: HtmlAnswer,
  page: string,
  remember: (page: string) => SnippetMemory,
  pages: OpenPages,
): Promise<HtmlAnswer> {
  const wanted: WantedSnippets = new Map();
  const found = readPageEmbeds(page, answer.html, wanted);
  if (found.embeds.length + found.faults.length === 0) return answer;
  const memory = remember(page);
  const snippets = new Map<string, RememberedSnippet>();
  await Promise.all([...wanted.values()].map(async (one) => snippets.set(one.key, await memory.get(one))));
  pages.serve(page, [...wanted.keys()]);
  failFor(found, wanted, snippets);
  return {
    status: answer.status,
    html: inline(answer.html, found.embeds, ({ snippet }, asText) => {
      const { content, html } = snippets.get(snippet.key) ?? {};
      // A comment is no comment where there is only text.
      if (content === undefined || asText) return content;
      return `<!--${markers.start(snippet.key)}-->${html}<!--${markers.end(snippet.key)}-->`;
    }).page,
  };
}

function describe(
  { key, id, params, name, variant, milliseconds, content, checkedAt, error }: RememberedSnippet,
  editUrl: Settings['editUrl'],
): ShownSnippet {
  return {
    key,
    id,
    ...(name === undefined ? {} : { name }),
    ...(params === undefined ? {} : { params }),
    ...(variant === undefined ? {} : { variant }),
    ...(milliseconds === undefined ? {} : { milliseconds }),
    ...(content === undefined ? {} : { bytes: Buffer.byteLength(content) }),
    ...(checkedAt === undefined ? {} : { checkedAt }),
    ...(error === undefined ? {} : { error: error.message }),
    ...(editUrl === undefined ? {} : { editUrl: editUrl(String(id)) }),
  };
}

/** @throws AstroError with the report of a build, when there is something that a build would fail for. */
function failFor(
  { faults }: PageEmbeds,
  wanted: WantedSnippets,
  snippets: Map<string, RememberedSnippet>,
): void {
  const failed = [...wanted.values()].flatMap((snippet) => {
    const { error, content } = snippets.get(snippet.key) ?? {};
    return error === undefined || content !== undefined ? [] : [{ snippet, error }];
  });
  throwFailures({ failed, notAsked: [] }, faults);
}
