import { toRequest } from '../client/snippet-request.ts';
import { type Announcement, listen } from '../embed/announcement.ts';
import type { InvalidEmbed } from '../failures/report.ts';
import { routeFiles } from '../html/route-files.ts';
import type { ScannableFile, ScannedSite } from './scan-site.ts';

/** A snippet that was rendered but is not in the output. */
export interface LostSnippet extends InvalidEmbed {
  /** The names of its page's files, if they are known by the path of the page. */
  files: string[];
}

/** Everything that `<Snippet>` announced while pages were rendered. */
export class Announcements {
  /** By the path of the page and the key of the request. */
  readonly #announced = new Map<string, Map<string, Announcement>>();
  readonly #stop: () => void;

  /** @param onFirst called with the first announcement of each snippet. Whatever it throws fails the page. */
  constructor(onFirst: (announcement: Announcement) => void) {
    const known = new Set<string>();
    this.#stop = listen((announcement) => {
      const { key } = toRequest(announcement.id, announcement.params);
      const onPage = this.#announced.get(announcement.pathname);
      if (onPage === undefined) this.#announced.set(announcement.pathname, new Map([[key, announcement]]));
      else onPage.set(key, announcement);
      if (known.has(key)) return;
      known.add(key);
      onFirst(announcement);
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
    if (this.#announced.size === 0) return [];
    const embedsIn = new Map(site.files.map(({ source, embeds }) => [source.name, embeds]));
    const keysIn = (name: string) => {
      const embeds = embedsIn.get(name);
      return embeds === undefined ? [] : site.store.read(embeds).map(({ request }) => request.key);
    };
    const names = new Set(scannable.map(({ name }) => name));
    const invalid = new Set(site.invalid.map(({ file }) => file));
    const everywhere = new Set(site.uses.map(({ request }) => request.key));
    return [...this.#announced].flatMap(([pathname, onPage]): LostSnippet[] => {
      const files = [...routeFiles(pathname, base), pathname.replace(/^\//, '')].filter((name) =>
        names.has(name),
      );
      if (files.some((name) => invalid.has(name))) return [];
      const found = files.length === 0 ? [everywhere] : [new Set(files.flatMap(keysIn))];
      return [...onPage]
        .filter(([key]) => !found.some((keys) => keys.has(key)))
        .map(([, { id }]) => {
          const message = `Snippet ${id} was rendered here, but is not in the output.`;
          return { file: pathname, code: 'embed-lost', message, files };
        });
    });
  }
}
