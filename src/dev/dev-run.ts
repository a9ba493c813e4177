import { resolve } from 'node:path';
import type { HookParameters } from 'astro';
import { imageHref, imageType } from '../images/image-file.ts';
import { SiteRun } from '../integration/site-run.ts';
import { astroMajor } from '../settings/astro-version.ts';
import type { FetchedSnippet, SnippetFetcher } from '../snippets/snippet-fetcher.ts';
import { cleanLines } from '../text/clean-text.ts';
import { escapeOwnErrors } from './error-page.ts';
import { serveText } from './serve-text.ts';
import { snippetMemory } from './snippet-memory.ts';

/** A dev server. A visible page asks whether it has changed: then its snippets are fetched again. */
export class DevRun extends SiteRun {
  readonly #warn = (line: string) => this.site.logger.warn(line);
  readonly #writeClasses = afterPause(100, () => {
    try {
      this.classes?.write();
    } catch (error) {
      this.#warn((error as Error).message);
    }
  });

  protected override async openFetcher(): Promise<SnippetFetcher> {
    const { SnippetFetcher } = await import('../snippets/snippet-fetcher.ts');
    // A person waits: fewer attempts than in a build, and a recovery is noticed quickly.
    const limits = { attempts: 3, fallbacksInARow: Infinity, deadline: 20_000, outageCap: 2_000 };
    const asking = { parts: { limits }, patience: 0, alwaysAsk: true, remember: false };
    return new SnippetFetcher(this.settings, { warn: this.#warn, ...asking });
  }

  protected override noteClasses(snippets: Iterable<FetchedSnippet>): void {
    super.noteClasses(snippets);
    // Snippets arrive one after the other.
    this.#writeClasses();
  }

  serve({ server, refreshContent }: HookParameters<'astro:server:setup'>): void {
    const { middlewares, watcher, environments, httpServer } = server;
    const { hot } = environments.client;
    // Later versions escape what Vite reports of modules for the browser.
    if (astroMajor(this.site.sources.folders.root) < 6) escapeOwnErrors(hot);
    this.site.sources.provideModules({
      importsOf: (id) =>
        Object.values(environments).flatMap(({ moduleGraph }) =>
          [...(moduleGraph.getModuleById(id)?.importedModules ?? [])].flatMap(
            (imported) => imported.id ?? [],
          ),
        ),
    });
    const memory = snippetMemory(async (shown) => {
      const snippet = await (await this.open()).get(shown);
      this.noteClasses([snippet]);
      return snippet;
    }, this.#warn);

    // From any script. Without `hash`, the page shows no snippets. `refresh` fetches them and all collections now.
    hot.on('astro-snippets:ask', async (asked: { hash?: string; refresh?: true } | null, client) => {
      const { hash, refresh } = asked ?? {};
      const shown = hash === undefined ? [] : memory.shownAs(hash);
      let error: string | undefined;
      // A rejection here would end the dev server.
      try {
        await Promise.all([
          refresh && refreshContent?.({ loaders: ['astro-snippets'] }),
          ...(shown ?? []).map((one) => memory.update(one, refresh)),
        ]);
      } catch (thrown) {
        // Such as a key that is missing now. The next view shows it, too.
        if (refresh) error = cleanLines((thrown as Error).message);
      }
      const hasChanged = shown === undefined || (hash !== undefined && memory.hashOf(shown) !== hash);
      client.send('astro-snippets:answer', { hash, hasChanged, error });
    });
    // The images of snippets, at the URLs that they have on the built site.
    middlewares.use(({ originalUrl = '' }, response, next) => {
      const { images } = this.settings;
      const [path = ''] = originalUrl.split('?');
      const folder = images && imageHref(images.assets, '');
      const name = folder && path.startsWith(folder) ? path.slice(folder.length) : '';
      const type = imageType(name);
      if (!type) return next();
      const reading = this.open().then((fetcher) => fetcher.readImage(name));
      reading.then((bytes) => {
        if (!bytes) return next();
        const headers = { 'content-type': type, 'content-length': bytes.length, 'cache-control': 'no-cache' };
        response.writeHead(200, headers).end(bytes);
      }, next);
    });
    middlewares.use(serveText(this, server, memory));

    // Pages have to load again: Vite's own message about an `.html` file does nothing.
    const restyle = afterPause(150, memory.restyle);
    watcher.on('all', (_, file) => {
      if (resolve(file) === this.classes?.file) restyle();
    });
    httpServer?.once('close', () => void this.close());
    // What fails is said when a page shows it.
    this.prepareClasses().catch(() => {});
  }
}

/** Calls `act` so many milliseconds after it was last asked for. */
function afterPause(milliseconds: number, act: () => void) {
  let timer: NodeJS.Timeout | undefined;
  return () => {
    timer = timer?.refresh() ?? setTimeout(act, milliseconds).unref();
  };
}
