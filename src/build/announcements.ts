import { type SnippetRequest, toRequest } from '../client/snippet-request.ts';
import { listen } from '../embed/element.ts';
import type { InvalidEmbed } from '../failures/report.ts';
import { routeFiles } from '../settings/site-urls.ts';
import type { ScannableFile, ScannedSite } from './scan-site.ts';

/** A snippet that was rendered but is not in the output. */
export interface LostSnippet extends InvalidEmbed {
  /** The names of its page's files, if they are known by the path of the page. */
  files: string[];
}

/** Everything that `<Snippet>` announced while pages were rendered. */
export class Announcements {
  /** By the path of the page: the keys of its snippets. */
  readonly #pages = new Map<string, Set<string>>();
  /** By their keys. */
  readonly #requests = new Map<string, SnippetRequest>();
  readonly #stop: () => void;

  /** @param onFirst called with each snippet when it is first announced. Whatever it throws fails the page. */
  constructor(onFirst: (request: SnippetRequest, pathname: string) => void) {
    this.#stop = listen(({ id, params, pathname }) => {
      const request = toRequest(id, params);
      const known = this.#requests.get(request.key);
      // The key that is kept is one for all pages.
      const { key } = known ?? request;
      this.#pages.set(pathname, (this.#pages.get(pathname) ?? new Set()).add(key));
      if (known !== undefined) return;
      this.#requests.set(key, request);
      onFirst(request, pathname);
    });
  }

  stop(): void {
    this.#stop();
  }

  /**
   * Snippets that were rendered but are not in the output. A page whose file is not known by its path may be in any
   * file.
   */
  lost(site: ScannedSite, scannable: readonly ScannableFile[], base: string): LostSnippet[] {
    if (this.#pages.size === 0) return [];
    const embedsIn = new Map(site.files.map(({ source, embeds }) => [source.name, embeds]));
    // What `<Snippet>` announces knows nothing of the params that the site adds.
    const keysIn = (name: string) =>
      embedsIn.get(name)?.map(({ written, request }) => written ?? request.key) ?? [];
    const names = new Set(scannable.map(({ name }) => name));
    const invalid = new Set(site.invalid.map(({ file }) => file));
    let everywhere: Set<string> | undefined;
    const lost: LostSnippet[] = [];
    for (const [pathname, onPage] of this.#pages) {
      const routes = [...routeFiles(pathname, base), pathname.replace(/^\//, '')];
      const files = routes.filter((name) => names.has(name));
      // What is lost may be an embed that is invalid, and in any file if that of the page is not known.
      const isUnknown = files.length === 0;
      if (isUnknown ? invalid.size > 0 : files.some((name) => invalid.has(name))) continue;
      if (isUnknown) everywhere ??= new Set(site.files.flatMap(({ source }) => keysIn(source.name)));
      const found = isUnknown ? everywhere : new Set(files.flatMap(keysIn));
      for (const key of onPage) {
        if (found?.has(key)) continue;
        const message = `Snippet ${this.#requests.get(key)?.id} was rendered here, but is not in the output.`;
        lost.push({ file: pathname, code: 'embed-lost', message, files });
      }
    }
    return lost;
  }
}
