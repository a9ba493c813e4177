import type { HookParameters } from 'astro';
import { SiteRun } from '../build/site-run.ts';
import type { FetchedSnippet, ShownAs, SnippetFetcher } from '../snippets/fetch-snippets.ts';
import { serveSnippets } from './serve-snippets.ts';

// A person is waiting for the page: fewer attempts than in a build, and a service that recovers is noticed quickly.
const limits = {
  attempts: 3,
  fallbacksInARow: Number.POSITIVE_INFINITY,
  deadline: 20_000,
  outageCap: 2_000,
};

/** A dev server. */
export class DevRun extends SiteRun {
  /** For pages and collections. */
  protected override async openFetcher(): Promise<SnippetFetcher> {
    const { logger } = this.site;
    const { SnippetFetcher } = await import('../snippets/fetch-snippets.ts');
    return new SnippetFetcher(this.settings, {
      warn: (line) => logger.warn(line),
      parts: { limits },
      patience: 0,
      alwaysAsk: true,
      remember: false,
    });
  }

  /** Fetches one snippet for a page. */
  async get(shown: ShownAs): Promise<FetchedSnippet> {
    const snippet = await (await this.open()).get(shown);
    this.noteClasses([snippet]);
    return snippet;
  }

  /** CSS is made again for classes that are new. */
  protected override noteClasses(snippets: Iterable<FetchedSnippet>): void {
    super.noteClasses(snippets);
    this.classes?.writeSoon((error) => this.site.logger.warn(error.message));
  }

  /** The file with the classes of snippets, if the site makes CSS for them. */
  get classFile(): string | undefined {
    return this.classes?.file;
  }

  /** In `astro:server:setup`. */
  serve(server: HookParameters<'astro:server:setup'>): void {
    serveSnippets(server, this);
    // A page is not kept waiting, and what fails here is said when a page shows it.
    this.prepareClasses().catch(() => {});
  }
}
