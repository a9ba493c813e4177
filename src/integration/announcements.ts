import { type SnippetRequest, toRequest } from '../client/snippet-request.ts';
import { componentBridge, containerPage } from '../embed/component-bridge.ts';
import { describeNote, type InvalidEmbed } from '../failures/embed-notes.ts';
import type { GeneratedSite } from '../inlining/generated-site.ts';
import type { ScannedSite } from '../inlining/scan-site.ts';
import type { ScannableFile } from '../output/site-files.ts';
import { routeFiles } from '../settings/site-urls.ts';
import type { FileEmbed } from '../snippets/read-embeds.ts';

/** A snippet that a page has announced, and that is not in the output. */
export interface LostEmbed extends InvalidEmbed {
  id: string;
  /** The files of the page; empty if they are not known. */
  files: string[];
}

/** What `<Snippet>` has announced in this build. */
export interface Announcements {
  stop(): void;
  lost(scanned: ScannedSite, scannable: readonly ScannableFile[], site: GeneratedSite): LostEmbed[];
}

/** Hears what `<Snippet>` announces while pages are rendered. @param onFirst called once for each. If it throws, the page fails. */
export function hearAnnouncements(
  onFirst: (request: SnippetRequest, pathname: string) => void,
): Announcements {
  const pages = new Map<string, string[]>();
  const requests = new Map<string, SnippetRequest>();
  const hear: typeof componentBridge.announce = (id, params, pathname) => {
    const request = toRequest(id, params);
    // Of equal keys, one is kept.
    const { key } = requests.get(request.key) ?? request;
    const onPage = pages.get(pathname);
    if (onPage) onPage.push(key);
    else pages.set(pathname, [key]);
    if (requests.has(key)) return;
    requests.set(key, request);
    onFirst(request, pathname);
  };
  componentBridge.announce = hear;
  return {
    stop() {
      // Another build of this process may have begun.
      if (componentBridge.announce === hear) componentBridge.announce = undefined;
    },

    /**
     * Snippets that were rendered but are not in the output, with the files of their page if known. If one is only there less
     * often, it is a warning: a page may render something for another purpose, too.
     */
    lost(scanned: ScannedSite, scannable: readonly ScannableFile[], { urls, logger, search }: GeneratedSite) {
      if (pages.size === 0) return [];
      const keysIn = new Map(scanned.files.map(({ name, embeds }) => [name, embeds.map(writtenKey)]));
      const names = new Set(scannable.map(({ name }) => name));
      const invalid = new Set(scanned.invalid.map(({ file }) => file));
      // A page may be rendered under another path, such as another language's.
      const everywhere = countKeys([...keysIn.values()].flat());
      const rendered = countKeys([...pages.values()].flat());
      return [...pages].flatMap(([pathname, onPage]) => {
        const routes = [...routeFiles(pathname, urls.base), pathname.replace(/^\//, '')];
        const files = routes.filter((name) => names.has(name));
        const keys = files.flatMap((name) => keysIn.get(name) ?? []);
        if (keys.length === onPage.length && keys.every((key, at) => key === onPage[at])) return [];
        const isKnown = files.length > 0;
        // It may be an invalid embed, in any file if the page's is not known.
        if (isKnown ? files.some((name) => invalid.has(name)) : invalid.size > 0) return [];
        const found = isKnown ? countKeys(keys) : everywhere;
        return [...countKeys(onPage)].flatMap(([key, times]) => {
          const id = `${requests.get(key)?.id}`;
          const all = rendered.get(key) ?? 0;
          const shown = found.get(key) ?? 0;
          const wanted = isKnown ? times : pathname === containerPage ? all : 0;
          if ((everywhere.get(key) ?? 0) < all && shown > 0 && shown < wanted) {
            const message = `${files.join(', ') || pathname}: snippet ${id} was rendered ${wanted} times, but is in the output only ${shown === 1 ? 'once' : `${shown} times`}. What is made of text without tags, such as an excerpt, has no snippets.`;
            logger.warn(describeNote({ id, file: files[0], message }, search?.whereWritten));
          }
          const message = `Snippet ${id} was rendered here, but is not in the output.`;
          return shown > 0 ? [] : { file: pathname, code: 'embed-lost' as const, message, files, id };
        });
      });
    },
  };
}

/** Without the params that the site adds. */
const writtenKey = ({ request, written = request.key }: FileEmbed) => written;

function countKeys(keys: readonly string[]) {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
