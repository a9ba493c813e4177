import { decodeHTML, decodeHTMLAttribute, decodeXML } from 'entities/decode';
import { applyEdits, type Edit, type Range, walk } from './html-scanner.ts';

/** An encoding of text inside other text, such as a JSON string or an attribute value. */
export type Layer = keyof typeof layers;

/**
 * Part of a file, decoded through the layers around it. Every character is a byte of UTF-8, whether it is a byte of the
 * file or was decoded, so that both are handled in the same way.
 */
export interface Part {
  text: string;
  /** Outermost first. */
  layers: readonly Layer[];
  /** The value of the nearest `lang`. */
  lang?: string | undefined;
  /** The offset of a character in the file. */
  at(offset: number): number;
}

interface Codec {
  /** Matches an escaped character. */
  escaped: RegExp;
  /** Returns the character as bytes. */
  decode(found: string): string;
  /** @param inner the layer next inside this one. */
  encode(text: string, inner?: string): string;
}

// No page needs more, and each layer costs time in proportion to its text.
const deepest = 6;

export function cut(part: Part, { start, end }: Range): Part {
  return { ...part, text: part.text.slice(start, end), at: (offset) => part.at(start + offset) };
}

/** Decodes a part through one more layer. If there are too many, nothing is left of it. */
export function enter(part: Part, layer: Layer): Part {
  if (part.layers.length === deepest) return { ...part, text: '' };
  const { escaped, decode } = layers[layer];
  // The starts of pieces with the same shift between the decoded text and the source.
  const starts = [0];
  const origins = [0];
  let text = '';
  let read = 0;
  for (const { 0: match, index } of part.text.matchAll(escaped)) {
    const character = decode(match);
    if (character === match) continue;
    text += part.text.slice(read, index);
    starts.push(text.length, text.length + character.length);
    read = index + match.length;
    origins.push(index, read);
    text += character;
  }
  text += part.text.slice(read);
  const at = (offset: number) => {
    let low = 0;
    for (let high = starts.length; high - low > 1; ) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return part.at((origins[low] ?? 0) + offset - (starts[low] ?? 0));
  };
  return { ...part, text, layers: [...part.layers, layer], at };
}

/** Encodes text through all layers, innermost first. */
export function encode(text: string, inside: readonly Layer[]): string {
  const codecs: Record<Layer, Codec> = layers;
  return inside.reduceRight(
    (inner, layer, index) => codecs[layer].encode(inner, inside[index + 1]),
    text.toWellFormed(),
  );
}

/** Text of which every character is a byte of UTF-8. */
export function asBytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** Decodes an attribute of a file that was read as Latin-1. */
export function decodeAttribute(bytes: string): string {
  // Most values are numbers or empty.
  return /[&\x80-\xff]/.test(bytes) ? decodeHTMLAttribute(Buffer.from(bytes, 'latin1').toString()) : bytes;
}

const named = (names: Record<string, string>) => (character: string) =>
  names[character] ?? `&#${character.charCodeAt(0)};`;
const inXml = named({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' });
const inHtml = named({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\u00a0': '&nbsp;' });

// Characters that a document cannot contain, even escaped.
const withoutNul = (text: string) => text.replaceAll('\0', '\ufffd');
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML forbids.
const withoutControls = (text: string) => text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd');

// In HTML, a reference may lack its semicolon; in an attribute, only if no "=", letter or digit follows.
const htmlReference = /&(?:#x[\da-f]+;?|#\d+;?|[a-z][\da-z]*;|(?:lt|gt|amp|quot))/gi;
const htmlAttributeReference = /&(?:#x[\da-f]+;?|#\d+;?|[a-z][\da-z]*;|(?:lt|gt|amp|quot)(?![\da-z=]))/gi;
const xmlReference = /&(?:#x[\da-f]+|#\d+|lt|gt|amp|quot|apos);/gi;
const jsonEscape =
  /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|[^ux])/gs;

/** Layers that are read alike, and written each in its own way. */
const codec = (escaped: RegExp, decode: Codec['decode']) => (encode: Codec['encode']) => ({
  escaped,
  decode,
  encode,
});
const htmlText = codec(htmlReference, (found) => asBytes(decodeHTML(found)));
const htmlAttribute = codec(htmlAttributeReference, (found) => asBytes(decodeHTMLAttribute(found)));
const xml = codec(xmlReference, (found) => asBytes(decodeXML(found)));
const json = codec(jsonEscape, (found) => {
  // JavaScript may escape any character.
  const unicode = found.replace('\\x', '\\u00');
  return /^\\[unrtbf]/.test(unicode) ? asBytes(JSON.parse(`"${unicode}"`)) : found.slice(1);
});
const cdata = codec(/\]\]><!\[CDATA\[/g, () => '');
const decodePercent = (found: string) =>
  found === '+' ? ' ' : String.fromCharCode(Number.parseInt(found.slice(1), 16));

const quoted = (text: string) => withoutNul(text).replace(/[&<>"'\r\u00a0]/g, inHtml);
const asPercent = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
const encodePercent = (text: string) => encodeURIComponent(text).replace(/[!'()*]/g, asPercent);
const encodeJson = (text: string) => JSON.stringify(text).slice(1, -1);

export const asUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
const asUnits = (text: string) => text.replace(/[\u0080-\uffff]/g, asUnit);
const asReferences = (text: string) =>
  text.replace(/[\u0080-\u{10ffff}]/gu, (character) => `&#${character.codePointAt(0)};`);
const asCssEscapes = (css: string) =>
  css.replace(/[\u0080-\u{10ffff}]/gu, (character) => `\\${character.codePointAt(0)?.toString(16)} `);

/** What another layer has encoded, in ASCII. Scripts and styles of HTML have other escapes. */
function asAscii(text: string, layer?: string): string {
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

const layers = {
  /** HTML that is shown as text: `&lt;b&gt;`. Also RCDATA, as in `<title>`. */
  'html-text': htmlText((text) => withoutNul(text).replace(/[&<>\r\u00a0]/g, inHtml)),
  'html-attribute': htmlAttribute(quoted),
  'html-unquoted': htmlAttribute((text) => quoted(text).replace(/[\t\n\f ="'`]/g, inHtml)),
  /** The whole value of an unquoted attribute. Quotes are added. */
  'html-unquoted-whole': htmlAttribute((text) => `"${quoted(text)}"`),
  'xml-text': xml((text) => withoutControls(text).replace(/[&<>\r]/g, inXml)),
  'xml-attribute': xml((text) => withoutControls(text).replace(/[&<>"'\t\n\r]/g, inXml)),
  /** Never forms "]]>" with what precedes or follows it. */
  cdata: cdata((text) =>
    withoutControls(text)
      .replace(/(^|\])(?=>)|\]$|^$/g, '$&]]><![CDATA[')
      .replaceAll('\r', ']]>&#13;<![CDATA['),
  ),
  /** A JSON string, without its quotes. */
  json: json(encodeJson),
  /** The same without `<`: in a script, or in a file that avoids it. */
  'json-in-script': json((text) => encodeJson(text).replace(/[<>&\u2028\u2029]/g, asUnit)),
  /** Part of a URL. */
  url: codec(/%[\da-f]{2}/gi, decodePercent)(encodePercent),
  /** The same in a query that writes spaces as `+`. */
  'url-query': codec(/%[\da-f]{2}|\+/gi, decodePercent)((text) => encodePercent(text).replaceAll('%20', '+')),
  /** Outside of all others, in a file that declares another encoding than UTF-8. Nothing is read through it. */
  ascii: { escaped: /(?!)/g, decode: (found: string) => found, encode: asAscii },
} satisfies Record<string, Codec>;
