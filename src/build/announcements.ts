import { toRequest } from '../client/snippet-request.ts';
import { type Announcement, listen } from '../embed/announcement.ts';
import type { InvalidEmbed } from '../failures/report.ts';
import { routeFiles } from '../html/route-files.ts';
import type { ScannableFile, ScannedSite } from './scan-site.ts';

/** Everything that `<Snippet>` announced while pages were rendered. */
export class Announcements {
  readonly #announced = new Map<string, Announcement>();
  readonly #stop: () => void;

  /** @param onFirst called with the first announcement of each snippet. Whatever it throws fails the page. */
  constructor(onFirst: (announcement: Announcement) => void) {
    const known = new Set<string>();
    this.#stop = listen((announcement) => {
      const { key } = toRequest(announcement.id, announcement.params);
      this.#announced.set(`${announcement.pathname} ${key}`, announcement);
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
  lost(site: ScannedSite, scannable: readonly ScannableFile[], base: string): InvalidEmbed[] {
    if (this.#announced.size === 0) return [];
    const keysIn = new Map(
      site.files.map(({ source, embeds }) => [
        source.name,
        new Set(embeds.map(({ request }) => request.key)),
      ]),
    );
    const names = new Set(scannable.map(({ name }) => name));
    const invalid = new Set(site.invalid.map(({ file }) => file));
    const everywhere = new Set(site.uses.map(({ request }) => request.key));
    return [...this.#announced.values()].flatMap(({ id, params, pathname }): InvalidEmbed[] => {
      const { key } = toRequest(id, params);
      const files = [...routeFiles(pathname, base), pathname.replace(/^\//, '')].filter((name) =>
        names.has(name),
      );
      const isFound =
        files.length === 0 ? everywhere.has(key) : files.some((name) => keysIn.get(name)?.has(key));
      if (isFound || files.some((name) => invalid.has(name))) return [];
      const message = `Snippet ${id} was rendered here, but is not in the output.`;
      return [{ file: pathname, code: 'embed-lost', message }];
    });
  }
}
