import { decodeHTMLAttribute } from 'entities/decode';
import { Parser } from 'htmlparser2';
import { type EmbedAttributes, elementName } from './element.ts';

/** Bytes of a page, from `start` (included) to `end` (excluded). */
export interface Range {
  start: number;
  end: number;
}

/** An embed that was found in a page. All places are byte offsets. */
export interface FoundEmbed extends Range {
  /** What the attributes say, decoded, but not yet checked. */
  attributes: EmbedAttributes;
  /** The children: what to show when the snippet cannot be had. Empty where there are none. */
  fallback: Range;
  /** Whether it stands where a page can hold no elements: in `<title>` or `<textarea>`. */
  inText: boolean;
  /** Whether it is in an island's own markup, which the island makes anew in the browser. */
  inIsland: boolean;
  /** The paragraph that holds this embed and nothing else, as Markdown writes it. */
  paragraph?: Range;
}

/** An embed that cannot be read: it has no end, or stands inside another one, which begins at `outer`. */
export type EmbedFault =
  | { flaw: 'unclosed'; start: number }
  | { flaw: 'nested'; start: number; outer: number };

export interface Scan {
  /** In the order of the page. */
  embeds: FoundEmbed[];
  faults: EmbedFault[];
}

const opening = `<${elementName}`;

/**
 * Whether a page may hold embeds: a search for bytes, many times faster than parsing. The name is looked for
 * in lower case only, which is how the component, Markdown and every framework write it.
 */
export function mayHoldEmbeds(page: Buffer): boolean {
  return page.includes(opening);
}

/**
 * Finds every embed in the HTML of a page. Comments, `<script>`, `<style>` and the like, attribute values and
 * escaped code are left alone. An embed ends with its own end tag, or with `/>`.
 *
 * The page is read as Latin-1, where a character is a byte: HTML's syntax is ASCII, so the tokenizer sees what
 * it would see in UTF-8, every offset is a byte offset, and no byte outside an embed is ever decoded.
 */
export function scan(page: Buffer): Scan {
  const found: Scan = { embeds: [], faults: [] };
  if (mayHoldEmbeds(page)) {
    const html = page.toString('latin1');
    scanMarkup(html, { start: 0, end: html.length }, false, found);
  }
  return found;
}

/** The line, counted from 1, on which a byte of a page stands. */
export function lineAt(page: Buffer, offset: number): number {
  let line = 1;
  for (let at = page.indexOf('\n'); at !== -1 && at < offset; at = page.indexOf('\n', at + 1)) line += 1;
  return line;
}

// Elements whose content is text with entities: the tokenizer sees no markup in them, but in ours there may be
// an embed. (Raw text, as in <script> and <style>, is left alone altogether.)
const textElements = new Set(['title', 'textarea']);

// Astro marks an island that will be hydrated, and in it what was passed to it: that is left as it is.
const islandElements = new Map([
  ['astro-island', true],
  ['astro-slot', false],
  ['astro-static-slot', false],
  ['template', false],
]);

interface OpenParagraph {
  start: number;
  holds: 'nothing' | 'mixed' | FoundEmbed;
}

function scanMarkup(html: string, within: Range, inText: boolean, found: Scan): void {
  let embed: { start: number; contentStart: number; attributes: EmbedAttributes } | undefined;
  let paragraph: OpenParagraph | undefined;
  let textElement: { name: string; contentStart: number } | undefined;
  // The innermost last: whether it is an island's own markup, or was passed to one.
  const islands: boolean[] = [];

  const closeEmbed = (open: NonNullable<typeof embed>, contentEnd: number, end: number) => {
    embed = undefined;
    const closed: FoundEmbed = {
      start: open.start,
      end,
      attributes: open.attributes,
      fallback: { start: open.contentStart, end: contentEnd },
      inText,
      inIsland: islands.at(-1) ?? false,
    };
    found.embeds.push(closed);
    if (paragraph !== undefined) paragraph.holds = paragraph.holds === 'nothing' ? closed : 'mixed';
  };

  const parser = new Parser(
    {
      onopentag(name, attributes) {
        const start = within.start + parser.startIndex;
        const end = within.start + parser.endIndex + 1;
        if (name === elementName) {
          if (embed !== undefined) {
            found.faults.push({ flaw: 'nested', start, outer: embed.start });
            return;
          }
          textElement = undefined;
          embed = { start, contentStart: end, attributes: decodeAttributes(attributes) };
          if (html[end - 2] === '/') closeEmbed(embed, end, end);
          return;
        }
        if (embed !== undefined) return;
        const island = islandElements.get(name);
        if (island !== undefined) islands.push(island);
        // In SVG, <title> may hold elements. One that does was no text, and has been scanned already.
        textElement = textElements.has(name) ? { name, contentStart: end } : undefined;
        if (name === 'p') paragraph = { start, holds: 'nothing' };
        else if (paragraph !== undefined) paragraph.holds = 'mixed';
      },
      onclosetag(name, isImplied) {
        const start = within.start + parser.startIndex;
        // The parser says where the name ends; white space may follow it.
        const bracket = html.indexOf('>', within.start + parser.endIndex);
        const end = bracket === -1 ? within.end : bracket + 1;
        if (name === elementName && embed !== undefined) {
          if (!isImplied) return closeEmbed(embed, start, end);
          found.faults.push({ flaw: 'unclosed', start: embed.start });
          embed = undefined;
        }
        if (embed !== undefined) return;
        if (islandElements.has(name)) islands.pop();
        if (name === textElement?.name) {
          const content = { start: textElement.contentStart, end: isImplied ? within.end : start };
          if (html.slice(content.start, content.end).includes(opening)) {
            scanMarkup(html, content, true, found);
          }
        }
        textElement = undefined;
        if (name === 'p') {
          if (typeof paragraph?.holds === 'object' && !isImplied) {
            paragraph.holds.paragraph = { start: paragraph.start, end };
          }
          paragraph = undefined;
        }
      },
      ontext(text) {
        if (embed === undefined && paragraph !== undefined && /[^ \t\n\f\r]/.test(text)) {
          paragraph.holds = 'mixed';
        }
      },
      oncomment() {
        if (embed === undefined && paragraph !== undefined) paragraph.holds = 'mixed';
      },
    },
    // Entities decode to characters, which are no bytes: attributes are decoded after they are UTF-8 again.
    { decodeEntities: false },
  );
  parser.end(html.slice(within.start, within.end));
}

function decodeAttributes({ id, params, as }: Record<string, string>): EmbedAttributes {
  return { id: decodeAttribute(id), params: decodeAttribute(params), as: decodeAttribute(as) };
}

/** What an attribute says, of a page that was read as Latin-1. */
export function decodeAttribute<T extends string | undefined>(bytes: T): T | string {
  // Most are a number, or nothing: there is nothing to decode in them.
  if (bytes === undefined || !/[&\x80-\xff]/.test(bytes)) return bytes;
  return decodeHTMLAttribute(Buffer.from(bytes, 'latin1').toString());
}
