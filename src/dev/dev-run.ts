import { resolve } from 'node:path';
import type { HookParameters } from 'astro';
import type { Connect, ViteDevServer } from 'vite';
import { shownName } from '../failures/name-snippet.ts';
import { imageHref, imageType } from '../images/image-file.ts';
import type { Site } from '../integration/site.ts';
import { type OpenedFetcher, SnippetSession } from '../integration/snippet-session.ts';
import type { Environment, EnvironmentFiles } from '../settings/environment.ts';
import { astroMajor } from '../settings/versions.ts';
import type { FetchedSnippets, SnippetCollection } from '../snippets/snippet-fetcher.ts';
import type { ModuleGraph } from '../source/site-source.ts';
import { cleanLines } from '../text/clean-text.ts';
import { escapeOwnErrors } from './error-page.ts';
import { serveText } from './serve-text.ts';
import { type FetchSnippet, SnippetMemory } from './snippet-memory.ts';

type ServerSetup = HookParameters<'astro:server:setup'>;

/** The message by which a page in the browser asks whether it has changed. */
interface PageQuestion {
  /** The hash of the snippets that the page shows; absent if it shows none. */
  hash?: string;
  /** Whether to fetch the snippets of the page and of all collections now, even if they are not due. */
  refresh?: true;
}

/** How long to wait before a write or reload, in milliseconds, so that several changes cause only one. */
const classPause = 100;
const stylePause = 150;

/** A dev server. Each visible page keeps asking whether it has changed, which fetches its snippets again. */
export class DevRun {
  readonly session: SnippetSession;

  constructor(site: Site, environment: Environment, files: EnvironmentFiles) {
    const writeClasses = () => {
      try {
        site.classes?.write();
      } catch (error) {
        site.logger.warn((error as Error).message);
      }
    };
    this.session = new SnippetSession(site, environment, files, {
      openFetcher: openDevFetcher,
      onClasses: afterPause(classPause, writeClasses),
    });
  }

  fetchCollection(options: SnippetCollection): Promise<FetchedSnippets> {
    return this.session.fetchCollection(options);
  }

  /** Serves pages with their snippets. Vite calls this again when it restarts the server. */
  serve({ server, refreshContent }: ServerSetup): void {
    const { session } = this;
    const { sources, classes, logger } = session.site;
    const { hot } = server.environments.client;
    // Astro 6 and later escape the errors that Vite reports for browser modules; Astro 5 shows them as HTML.
    if (astroMajor(sources.folders.root) < 6) escapeOwnErrors(hot);
    sources.modules = loadedModules(server);

    const fetchSnippet: FetchSnippet = async (shown) => {
      const { fetcher } = await session.open();
      const snippet = await fetcher.get(shown);
      session.noteClasses([snippet]);
      return snippet;
    };
    const memory = new SnippetMemory(fetchSnippet, (line) => logger.warn(line));
    answerPages(hot, memory, (id) => session.nameOf(id), refreshContent);
    server.middlewares.use(imageHandler(session));
    server.middlewares.use(serveText(session, server, memory));

    // Pages load again when their styles change: Vite's own message about an `.html` file does nothing.
    const restyle = afterPause(stylePause, () => memory.restyle());
    server.watcher.on('all', (_, file) => {
      if (resolve(file) === classes?.file) restyle();
    });
    server.httpServer?.once('close', () => void session.close());
    // Failures are ignored here: they are reported when a page shows the snippet.
    session.prepareClasses().catch(() => {});
  }
}

async function openDevFetcher(session: SnippetSession): Promise<OpenedFetcher> {
  const { SnippetFetcher } = await import('../snippets/snippet-fetcher.ts');
  // A person waits: fewer attempts than in a build, and a recovery is noticed quickly.
  const limits = { attempts: 3, fallbacksInARow: Infinity, deadline: 20_000, outageCap: 2_000 };
  const fetcher = new SnippetFetcher(session.settings, {
    warn: (line) => session.site.logger.warn(line),
    parts: { limits },
    patience: 0,
    alwaysAsk: true,
    asksForNames: true,
    remember: false,
  });
  return { fetcher, previousManifest: undefined };
}

const loadedModules = ({ environments }: ViteDevServer): ModuleGraph => ({
  importsOf: (id) =>
    Object.values(environments).flatMap(({ moduleGraph }) => {
      const imported = [...(moduleGraph.getModuleById(id)?.importedModules ?? [])];
      return imported.flatMap((module) => module.id ?? []);
    }),
});

/** Answers pages that ask whether they have changed. Any script can send the message, even an empty one. */
function answerPages(
  hot: ViteDevServer['environments']['client']['hot'],
  memory: SnippetMemory,
  nameOf: (id: number) => string | undefined,
  refreshContent: ServerSetup['refreshContent'],
): void {
  hot.on('astro-snippets:ask', async (question: PageQuestion | null, client) => {
    const { hash, refresh } = question ?? {};
    const shown = hash === undefined ? [] : memory.snippetsOf(hash);
    let message: string | undefined;
    // A rejection here would end the dev server.
    try {
      await Promise.all([
        refresh && refreshContent?.({ loaders: ['astro-snippets'] }),
        ...(shown ?? []).map((snippet) => memory.update(snippet, refresh)),
      ]);
    } catch (error) {
      // The next view of the page shows an error such as a missing key, so only a refresh has to say it now.
      if (refresh) message = cleanLines((error as Error).message);
    }
    const hasChanged = shown === undefined || (hash !== undefined && memory.hashPage(shown) !== hash);
    // A name may arrive after the page, and is no reason to load the page again.
    const names = Object.fromEntries(
      (shown ?? []).map(({ request: { id } }) => [id, shownName(id, nameOf(id)) || undefined]),
    );
    client.send('astro-snippets:answer', { hash, hasChanged, error: message, names });
  });
}

/** Serves the images of snippets, at the URLs that they have on the built site. */
function imageHandler(session: SnippetSession): Connect.NextHandleFunction {
  return ({ originalUrl = '' }, response, next) => {
    const { images } = session.settings;
    const [path = ''] = originalUrl.split('?');
    const folder = images && imageHref(images.assets, '');
    const name = folder && path.startsWith(folder) ? path.slice(folder.length) : '';
    const type = imageType(name);
    if (!type) return next();

    const send = (bytes: Uint8Array | undefined) => {
      if (!bytes) return next();
      const headers = { 'content-type': type, 'content-length': bytes.length, 'cache-control': 'no-cache' };
      response.writeHead(200, headers).end(bytes);
    };
    const image = session.open().then(({ fetcher }) => fetcher.readImage(name));
    image.then(send, next);
  };
}

/** Returns a debounced `act`: it runs once no call was made for a number of milliseconds. */
function afterPause(milliseconds: number, act: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  return () => {
    timer = timer?.refresh() ?? setTimeout(act, milliseconds).unref();
  };
}
