import { decodeXML } from 'entities/decode';
import { attributesOf, readAttribute, type Tag } from '../../markup/tags.ts';
import { walk } from '../../markup/walk.ts';

/** An item of a feed. */
export interface FeedItem {
  /** The URLs that may be the one of the item's page, the surest first. */
  links: string[];
  /** The texts of the item, as HTML: its content and its summary. */
  texts: string[];
}

/** Matches the start of XML up to the name of its root element, if that is a feed. */
const feedRoot =
  /^(?:\xef\xbb\xbf|\ufeff)?(?:\s|<\?(?:(?!\?>).)*\?>|<!--(?:(?!-->).)*-->|<![^->]*>)*<(?:[\w.-]+:)?(?:rss|feed|rdf)[\s>]/is;

/** Matches the version by which a JSON Feed says what it is, and not a text that quotes one. */
const jsonFeedVersion = /(?<!\\)"version"\s*:\s*"https?:\\?\/\\?\/jsonfeed\.org\\?\/version/;

const jsonStart = /^(?:\xef\xbb\xbf)?\s*\{/;

/** How many bytes of a file are searched for its beginning. */
const sniffedLength = 4096;

/** Whether a file is a feed: RSS, Atom or RDF, or a JSON Feed. @param file its bytes, or at least the first of them */
export const isFeed = (file: Buffer): boolean => feedRoot.test(startOf(file)) || isJsonFeed(file);

/** Whether a file is a feed in JSON (https://jsonfeed.org). */
export const isJsonFeed = (file: Buffer): boolean =>
  jsonStart.test(startOf(file)) &&
  file.includes('jsonfeed.org') &&
  jsonFeedVersion.test(file.toString('latin1'));

const startOf = (file: Buffer) => file.toString('latin1', 0, sniffedLength);

/** Reads the items of a feed that have a text. */
export function readFeed(feed: string): FeedItem[] {
  const items = /^\ufeff?\s*</.test(feed) ? readXmlItems(feed) : readJsonItems(feed);
  return items.filter(({ texts }) => texts.length > 0);
}

function readJsonItems(feed: string): FeedItem[] {
  try {
    const { items }: { items: Record<string, unknown>[] } = JSON.parse(feed);
    return items.map((item) => ({
      links: stringsOf(item['url'], item['id']),
      texts: stringsOf(item['content_html'], item['content_text'], item['summary']),
    }));
  } catch {
    // Readers cannot read the feed either.
    return [];
  }
}

const stringsOf = (...values: unknown[]) => values.filter((value) => typeof value === 'string');

/** Where in a feed a tag or a text is. */
interface FeedContext {
  item?: FeedItem;
  field?: ItemField;
  /** Whether it is inside an element of the field. */
  isInMarkup?: boolean;
}

/** An element of an item. */
interface ItemField {
  kind: 'link' | 'id' | 'text';
  /** Where its content begins. */
  start: number;
  /** Its text, decoded. */
  text: string;
  /** Whether it contains elements, as the content of Atom with `type="xhtml"` does. */
  hasMarkup: boolean;
}

const itemElements = /^(?:[\w.-]+:)?(?:item|entry)$/;
const fieldElements: readonly [kind: ItemField['kind'], names: RegExp][] = [
  ['link', /^(?:[\w.-]+:)?link$/],
  // The id of an item is often the URL of its page.
  ['id', /^(?:[\w.-]+:)?(?:guid|id)$/],
  ['text', /^(?:[\w.-]+:)?(?:encoded|content|description|summary)$/],
];

function readXmlItems(feed: string): FeedItem[] {
  const items: FeedItem[] = [];
  walk<FeedContext>(
    feed,
    {},
    {
      isXml: true,
      open(tag, outside) {
        const { item, field } = outside;
        if (field) {
          field.hasMarkup = true;
          return { ...outside, isInMarkup: true };
        }
        if (!item) {
          if (!itemElements.test(tag.name)) return outside;
          const opened: FeedItem = { links: [], texts: [] };
          items.push(opened);
          return { item: opened };
        }
        const kind = fieldElements.find(([, names]) => names.test(tag.name))?.[0];
        if (kind === 'link') item.links.unshift(...pageLinks(feed, tag));
        return kind ? { item, field: { kind, start: tag.end, text: '', hasMarkup: false } } : outside;
      },
      text({ start, end }, { field }, kind) {
        if (!field) return;
        const written = feed.slice(start, end);
        field.text += kind === 'cdata' ? written.replaceAll(']]><![CDATA[', '') : decodeXML(written);
      },
      close(_, endTag, { item, field, isInMarkup }) {
        if (!item || !field || isInMarkup) return;
        const content = field.hasMarkup ? feed.slice(field.start, endTag.start) : field.text;
        if (content.trim() === '') return;
        if (field.kind === 'text') item.texts.push(content);
        else if (field.kind === 'id') item.links.push(content);
        else item.links.unshift(content);
      },
    },
  );
  return items;
}

/** The URL of an item's page in a `<link>` of Atom; none in one that leads to a file, or to comments. */
function pageLinks(feed: string, tag: Tag): string[] {
  const attributes = attributesOf(feed, tag);
  const href = readAttribute(attributes, 'href', decodeXML);
  const rel = readAttribute(attributes, 'rel', decodeXML) ?? 'alternate';
  return href !== undefined && rel === 'alternate' ? [href] : [];
}
