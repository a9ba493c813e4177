import type { ServerResponse } from 'node:http';
import { resolve } from 'node:path';
import type { HookParameters } from 'astro';
import picomatch from 'picomatch';
import { imageHref, imageType } from '../images/image-file.ts';
import { astroMajor } from '../settings/astro-version.ts';
import type { DevRun } from './dev-run.ts';
import { errorPage, escapeOwnErrors, overlayMessage } from './error-page.ts';
import {
  type AskMessage,
  askSchema,
  type ChangedMessage,
  type Client,
  type DoneMessage,
  listener,
  pageEvents,
} from './page-messages.ts';
import { editUrls } from './panel-data.ts';
import { ServedPages, type Shown } from './served-pages.ts';
import { SnippetMemory } from './snippet-memory.ts';
import { type DevRequest, type TextResponse, transformTexts } from './text-responses.ts';
import { asViewFailure, childrenShown, FailureLog, type ViewFailure, viewOf, WarningLog } from './view.ts';

// In milliseconds: until a tool has made CSS for classes that are new.
const stylesPause = 150;

/**
 * Inlines snippets into the pages of `astro dev` as they are served. A page that somebody sees asks whether it has
 * changed: then its snippets are fetched again, and it reloads if it would look different now.
 */
export function serveSnippets(
  { server, refreshContent }: HookParameters<'astro:server:setup'>,
  run: DevRun,
): void {
  const { logger, config } = run.site;
  const warn = (line: string) => logger.warn(line);
  const { hot } = server.environments.client;
  // Later versions escape what Vite reports of modules for the browser.
  if (astroMajor(run.sources.folders.root) < 6) escapeOwnErrors(hot);
  run.sources.importsOf = (id) =>
    Object.values(server.environments).flatMap(({ moduleGraph }) =>
      [...(moduleGraph.getModuleById(id)?.importedModules ?? [])].flatMap((imported) => imported.id ?? []),
    );
  const memory = new SnippetMemory((use) => run.get(use), warn);
  const pages = new ServedPages();

  const editUrlOf = editUrls(() => run.settings, warn);

  const answer = ({ page, hash }: AskMessage, client: Client) => {
    const changed: ChangedMessage = { page };
    // Which tab has fetched something is not known.
    if (pages.hasFetchedOther(page)) hot.send(pageEvents.changed, changed);
    else if (hash !== undefined && pages.hasChanged(page, hash)) client.send(pageEvents.changed, changed);
  };
  const listen = listener(hot, warn);
  listen(pageEvents.ask, askSchema, async (message, client) => {
    // What cannot be handled here, such as a key that is missing now, is shown with the next view of the page.
    await Promise.allSettled(pages.keys(message.page).map((key) => memory.updateWhenDue(key)));
    answer(message, client);
  });
  listen(pageEvents.refresh, askSchema, async (message, client) => {
    const { page } = message;
    const done: DoneMessage = { page };
    try {
      const collections = refreshContent?.({ loaders: ['astro-snippets'] });
      await Promise.all([collections, ...pages.keys(page).map((key) => memory.update(key))]);
    } catch (error) {
      done.error = asViewFailure(error).message;
    }
    client.send(pageEvents.done, done);
    answer(message, client);
  });

  const failures = new FailureLog();
  const warnings = new WarningLog();
  const fail = (page: string, failure: ViewFailure, hash: string | undefined): TextResponse => {
    failures.report(page, failure, (line) => logger.error(line));
    // The response to a server island is not shown, so the page that contains it has to show the error.
    if (page.includes('/_server-islands/')) hot.send(overlayMessage(failure));
    return { status: 500, kind: 'html', body: Buffer.from(errorPage(server.config.base, failure, hash)) };
  };
  const inlineSnippets = async (response: TextResponse, request: DevRequest): Promise<TextResponse> => {
    const [page = '/'] = (request.originalUrl ?? '/').split('?');
    try {
      if (picomatch.isMatch(nameOf(page, config.base), run.settings.exclude)) return response;
      const parent = parentOf(request, response);
      const onShown = (shown: Shown) => {
        const hash = parent === undefined ? pages.serve(page, shown) : pages.addTo(parent, shown);
        return shown.size === 0 ? undefined : hash;
      };
      const view = await viewOf(response, page, { run, memory, editUrlOf, onShown });
      void view.warnings.then((lines) => warnings.report(page, lines, warn));
      if (view.failure !== undefined) return fail(page, view.failure, view.hash);
      failures.report(page, childrenShown(view.failed), warn);
      return { ...response, body: view.body };
    } catch (error) {
      return fail(page, asViewFailure(error), undefined);
    }
  };
  server.middlewares.use(serveImages(run));
  server.middlewares.use(transformTexts(inlineSnippets, logger));

  // A page that has loaded without the new styles has to load again. Vite's own message does nothing, since the name of
  // the file ends in `.html`.
  let restyling: NodeJS.Timeout | undefined;
  server.watcher.on('all', (_, file) => {
    if (run.classFile === undefined || resolve(file) !== run.classFile) return;
    clearTimeout(restyling);
    restyling = setTimeout(() => pages.restyle(), stylesPause).unref();
  });
  server.httpServer?.once('close', () => void run.close());
}

/** A middleware that serves the images of snippets at the URLs that they have on the built site. */
function serveImages(run: DevRun) {
  return (request: DevRequest, response: ServerResponse, next: (error?: unknown) => void) => {
    const { images } = run.settings;
    const [path = ''] = (request.originalUrl ?? request.url ?? '').split('?');
    const folder = images && imageHref(images.assets, '');
    const name = folder !== undefined && path.startsWith(folder) ? path.slice(folder.length) : '';
    const type = imageType(name);
    if (type === undefined) return next();
    const read = async () => (await run.open()).readImage(name);
    read().then((bytes) => {
      if (bytes === undefined) return next();
      response.setHeader('content-type', type);
      response.setHeader('content-length', bytes.length);
      response.setHeader('cache-control', 'no-cache');
      response.end(request.method === 'HEAD' ? undefined : bytes);
    }, next);
  };
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
