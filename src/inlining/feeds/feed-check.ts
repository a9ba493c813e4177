import { readFileSync } from 'node:fs';
import { elementName } from '../../embed/element.ts';
import { listNames } from '../../failures/places.ts';
import type { ScannableFile } from '../../output/site-files.ts';
import { filesAt } from '../../settings/route-files.ts';
import { pathOfFile, type SiteUrls } from '../../settings/site-urls.ts';
import type { ScannedFile } from '../scan-site.ts';
import { type FeedContent, lostEmbedFinder } from './lost-embeds.ts';
import { type FeedItem, readFeed } from './read-feed.ts';

/** An item of a feed whose page shows snippets. */
interface LinkedItem extends FeedItem {
  /** The name of the feed's file. */
  feed: string;
  /** The URL of the page, as the item has it. */
  link: string;
}

/**
 * Finds items of feeds that have the text of their page without its snippets, as a sanitizer removes unknown elements.
 * Make it before the feeds get their snippets, and call `add` for each page.
 */
export class FeedChecker {
  readonly #contents: ReadonlyMap<string, FeedContent>;
  /** The items of all feeds, by the name of the page that they link to. */
  readonly #items: ReadonlyMap<string, LinkedItem[]>;
  /** The items that have lost snippets, by the names of feeds. */
  readonly #lost = new Map<string, string[]>();

  /**
   * @param pages the files that hold embeds
   * @param contents the contents of snippets, by the keys of their requests
   */
  constructor(
    feeds: readonly ScannableFile[],
    pages: readonly ScannedFile[],
    urls: SiteUrls,
    contents: ReadonlyMap<string, FeedContent>,
  ) {
    this.#contents = contents;
    const names = new Set(pages.flatMap(({ name, kind }) => (kind === 'html' ? name : [])));
    const items = new Map<string, LinkedItem[]>();
    for (const { name, file, generated } of feeds) {
      const feedUrl = `https://site.invalid${pathOfFile(name, false, urls)}`;
      for (const item of readFeed((generated?.() ?? readFileSync(file)).toString())) {
        const found = findPage(item, feedUrl, names, urls);
        if (!found) continue;
        const linked = items.get(found.page) ?? [];
        linked.push({ ...item, feed: name, link: found.link });
        items.set(found.page, linked);
      }
    }
    this.#items = items;
  }

  /** @param generated the page as it was generated */
  add({ name, embeds }: ScannedFile, generated: Buffer): void {
    const items = this.#items.get(name);
    if (!items) return;
    const findLost = lostEmbedFinder(generated, embeds, ({ request }) => this.#contents.get(request.key));
    for (const { feed, link, texts } of items) {
      const lost = findLost(texts);
      if (lost.length === 0) continue;
      const ids = [...new Set(lost.map(({ request }) => request.id))];
      const item = `${link} (${ids.length > 1 ? 'snippets' : 'snippet'} ${listNames(ids.map(String), 3)})`;
      const lostItems = this.#lost.get(feed) ?? [];
      lostItems.push(item);
      this.#lost.set(feed, lostItems);
    }
  }

  /** The warnings, one for each feed. */
  warnings(): string[] {
    return Array.from(
      this.#lost,
      ([feed, items]) =>
        `${feed}: has the text of pages without the snippets in it: ${listNames(items, 3)}. What makes the text, such as a sanitizer, removes <${elementName}>: let it keep this element, with the attributes id, params, as and optional.`,
    );
  }
}

/** Finds the page with embeds that an item of a feed links to. */
function findPage(
  { links }: FeedItem,
  feedUrl: string,
  names: ReadonlySet<string>,
  urls: SiteUrls,
): { page: string; link: string } | undefined {
  for (const written of links) {
    const link = written.trim();
    const url = URL.parse(link, feedUrl);
    // An id such as `tag:site.test,2026:1` is no URL of a page.
    if (!url || !/^https?:$/.test(url.protocol)) continue;
    const page = filesAt(url.pathname, urls).find((name) => names.has(name));
    if (page !== undefined) return { page, link };
  }
  return undefined;
}
