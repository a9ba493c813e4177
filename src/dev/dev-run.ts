import type { HookParameters } from 'astro';
import { SiteRun } from '../build/site-run.ts';
import type { SnippetFetcher } from '../snippets/fetch-snippets.ts';
import type { SiteSource } from '../source/on-demand-routes.ts';
import { serveSnippets } from './serve-snippets.ts';

/** A dev server. */
export class DevRun extends SiteRun {
  protected override async openFetcher(): Promise<SnippetFetcher> {
    const { settings, site } = this;
    const { openDevFetcher } = await import('./dev-fetcher.ts');
    return openDevFetcher(settings, site.logger, (names) => {
      this.classes?.add(names);
      // CSS is made again for classes that are new.
      this.classes?.writeSoon((error) => site.logger.warn(error.message));
    });
  }

  /** The file with the classes of snippets, if the site makes CSS for them. */
  get classFile(): string | undefined {
    return this.classes?.file;
  }

  /** In `astro:server:setup`. */
  serve(server: HookParameters<'astro:server:setup'>, source: SiteSource): void {
    serveSnippets(server, this, source);
    // A page is not kept waiting, and what fails here is said when a page shows it.
    this.prepareClasses().catch(() => {});
  }
}
