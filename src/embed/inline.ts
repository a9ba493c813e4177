import { decodeHTML, decodeHTMLAttribute, decodeXML } from 'entities/decode';
import { escapeText, escapeUTF8 } from 'entities/escape';
import type { EmbedAs } from './element.ts';
import { applyEdits, type Edit, isBlockLevel, walk } from './html-scanner.ts';
import type { FoundEmbed } from './scan.ts';

/** How content is written in one place of a file. */
export interface InsertionFormat {
  as: EmbedAs;
  /** The encodings around the content, outermost first. */
  layers: readonly Layer[];
  /** What comments around the content say. */
  mark?: string | undefined;
}

export const formatKey = ({ as, layers, mark }: InsertionFormat) => `${as} ${layers.join()} ${mark}`;

export interface SnippetContent {
  html: string;
  text: string;
  /** Whether the HTML would swallow what follows it. */
  leavesOpen?: true | undefined;
}

export type Composed = ReturnType<typeof compose>;

export type PlacedEmbed = Pick<FoundEmbed, 'start' | 'end' | 'children' | 'format' | 'paragraph'>;

/** @returns text whose characters are bytes, and whether no paragraph can contain it. */
export function compose(content: SnippetContent, { as, layers, mark }: InsertionFormat) {
  const encoded = encode(content[as], layers);
  // If the second mark is swallowed, it is part of a tag, or text.
  const marks = mark !== undefined && !(as === 'html' && content.leavesOpen);
  const written = marks ? `<!--snippet ${mark}-->${encoded}<!--/snippet ${mark}-->` : encoded;
  return { text: asBytes(written), isBlock: as === 'html' && isBlockLevel(content.html) };
}

/**
 * Replaces embeds with their contents or else children; where it is a block, with the paragraph that contains nothing else.
 * All other bytes stay, except `others`, whose characters are bytes.
 */
export function replaceEmbeds<Embed extends PlacedEmbed>(
  file: Buffer,
  embeds: readonly Embed[],
  contentOf: (embed: Embed) => Composed | undefined,
  others: readonly Edit[] = [],
  room?: Buffer,
) {
  const page = file.toString('latin1');
  const edits = embeds.map((embed) => {
    const { text, isBlock } = contentOf(embed) ?? childrenOf(page, embed);
    const { start, end } = (isBlock && embed.paragraph) || embed;
    return { start, end, text };
  });
  const made = applyEdits(page, [...edits, ...others]);
  if (!room || made.length > room.length) return Buffer.from(made, 'latin1');
  return room.subarray(0, room.write(made, 'latin1'));
}

function childrenOf(page: string, { children, format, paragraph }: PlacedEmbed) {
  if (format.as === 'text')
    return { text: asBytes(encode(children.text ?? '', format.layers)), isBlock: false };
  const text = page.slice(children.start, children.end);
  return { text, isBlock: !!paragraph && isBlockLevel(text) };
}

/** Through all layers, innermost first. */
export const encode = (text: string, inside: readonly Layer[]) =>
  inside.reduceRight(
    (inner, layer, index) => layers[layer].encode(inner, inside[index + 1]),
    text.toWellFormed(),
  );

/** Text whose characters are bytes of UTF-8. */
export const asBytes = (text: string) => Buffer.from(text).toString('latin1');

/** Of a file that was read as Latin-1. */
export function decodeAttribute(bytes: string) {
  // Most values are numbers or empty.
  return /[&\x80-\xff]/.test(bytes) ? decodeHTMLAttribute(Buffer.from(bytes, 'latin1').toString()) : bytes;
}

interface Codec {
  /** Matches an escaped character. */
  escaped: RegExp;
  /** Returns the character as bytes. */
  decode(found: string): string;
  /** @param inner the layer next inside this one. */
  encode(text: string, inner?: string): string;
}

// Without characters that XML cannot contain, even escaped.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML forbids.
const withoutControls = (text: string) => text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd');

// Some need no semicolon; in attributes, only before other than "=", letters and digits.
const htmlReference = /&(?:#x[\da-f]+;?|#\d+;?|[a-z][\da-z]*;|(?:lt|gt|amp|quot))/gi;
const htmlAttributeReference = /&(?:#x[\da-f]+;?|#\d+;?|[a-z][\da-z]*;|(?:lt|gt|amp|quot)(?![\da-z=]))/gi;
const xmlReference = /&(?:#x[\da-f]+|#\d+|lt|gt|amp|quot|apos);/gi;
const jsonEscape =
  /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|[^ux])/gs;

/** Some layers are read alike but written differently. */
const codec =
  (escaped: RegExp, decode: Codec['decode']) =>
  (encode: Codec['encode']): Codec => ({ escaped, decode, encode });
const htmlTextCodec = codec(htmlReference, (found) => asBytes(decodeHTML(found)));
const htmlAttributeCodec = codec(htmlAttributeReference, (found) => asBytes(decodeHTMLAttribute(found)));
const xmlCodec = codec(xmlReference, (found) => asBytes(decodeXML(found)));
const jsonCodec = codec(jsonEscape, (found) => {
  // JavaScript may escape any character.
  const unicode = found.replace('\\x', '\\u00');
  return /^\\[unrtbf]/.test(unicode) ? asBytes(JSON.parse(`"${unicode}"`)) : found.slice(1);
});
const decodePercent = (found: string) =>
  found === '+' ? ' ' : String.fromCharCode(Number.parseInt(found.slice(1), 16));

const asNumber = (character: string) => `&#${character.codePointAt(0)};`;
const escapeHtml = (text: string) => escapeText(text.replaceAll('\0', '\ufffd')).replaceAll('\r', '&#13;');
const escapeQuoted = (text: string) => escapeHtml(text).replaceAll('"', '&quot;').replaceAll("'", '&#39;');
const asPercent = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
const encodePercent = (text: string) => encodeURIComponent(text).replace(/[!'()*]/g, asPercent);
const encodeJson = (text: string) => JSON.stringify(text).slice(1, -1);

export const asUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
const asUnits = (text: string) => text.replace(/[\u0080-\uffff]/g, asUnit);
const asReferences = (text: string) => text.replace(/[\u0080-\u{10ffff}]/gu, asNumber);
const asCssEscapes = (css: string) =>
  css.replace(/[\u0080-\u{10ffff}]/gu, (character) => `\\${character.codePointAt(0)?.toString(16)} `);

/** What another layer encoded, in ASCII. Scripts and styles have other escapes. */
function asAscii(text: string, layer?: string) {
  if (layer?.startsWith('json')) return asUnits(text);
  if (layer === 'cdata') {
    return text.replace(/[\u0080-\uffff]+/g, (characters) => `]]>${asReferences(characters)}<![CDATA[`);
  }
  const edits: Edit[] = [];
  walk(text, '', {
    open: ({ name }) => name,
    text({ start, end }, holder, kind) {
      if (kind !== 'raw') return;
      const code = text.slice(start, end);
      edits.push({ start, end, text: holder === 'style' ? asCssEscapes(code) : asUnits(code) });
    },
  });
  return asReferences(applyEdits(text, edits));
}

export const layers = {
  /** Text in HTML: `&lt;b&gt;`. Also RCDATA, as in `<title>`. */
  'html-text': htmlTextCodec(escapeHtml),
  'html-attribute': htmlAttributeCodec(escapeQuoted),
  'html-unquoted': htmlAttributeCodec((text) => escapeQuoted(text).replace(/[\t\n\f =`]/g, asNumber)),
  /** All of an unquoted value. Adds quotes. */
  'html-unquoted-whole': htmlAttributeCodec((text) => `"${escapeQuoted(text)}"`),
  'xml-text': xmlCodec((text) =>
    withoutControls(text).replace(/[&<>]/g, escapeUTF8).replaceAll('\r', '&#13;'),
  ),
  'xml-attribute': xmlCodec((text) => escapeUTF8(withoutControls(text)).replace(/[\t\n\r]/g, asNumber)),
  /** Forms no "]]>" with what is around it. */
  cdata: codec(
    /\]\]><!\[CDATA\[/g,
    () => '',
  )((text) =>
    withoutControls(text)
      .replace(/(^|\])(?=>)|\]$|^$/g, '$&]]><![CDATA[')
      .replaceAll('\r', ']]>&#13;<![CDATA['),
  ),
  /** A JSON string, without its quotes. */
  json: jsonCodec(encodeJson),
  /** Without `<`: in a script, or in a file that avoids it. */
  'json-in-script': jsonCodec((text) => encodeJson(text).replace(/[<>&\u2028\u2029]/g, asUnit)),
  /** Part of a URL. */
  url: codec(/%[\da-f]{2}/gi, decodePercent)(encodePercent),
  /** In a query that writes spaces as `+`. */
  'url-query': codec(/%[\da-f]{2}|\+/gi, decodePercent)((text) => encodePercent(text).replaceAll('%20', '+')),
  /** Around all others, in a file that declares another encoding than UTF-8. Only written. */
  ascii: codec(/(?!)/g, String)(asAscii),
} satisfies Record<string, Codec>;

export type Layer = keyof typeof layers;
