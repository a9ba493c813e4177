import { decodeHTML, decodeHTMLAttribute, decodeXML } from 'entities/decode';
import { escapeText, escapeUTF8 } from 'entities/escape';
import { applyEdits, type Edit } from '../markup/edits.ts';
import { toByteString } from '../markup/latin1.ts';
import { walk } from '../markup/walk.ts';

/** Through all layers, innermost first. */
export const encode = (text: string, inside: readonly Layer[]): string =>
  inside.reduceRight(
    (inner, layer, index) => layers[layer].encode(inner, inside[index + 1]),
    text.toWellFormed(),
  );

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

const htmlTextCodec = codec(htmlReference, (found) => toByteString(decodeHTML(found)));

const htmlAttributeCodec = codec(htmlAttributeReference, (found) => toByteString(decodeHTMLAttribute(found)));

const xmlCodec = codec(xmlReference, (found) => toByteString(decodeXML(found)));

const jsonCodec = codec(jsonEscape, (found) => {
  // JavaScript may escape any character.
  const unicode = found.replace('\\x', '\\u00');
  return /^\\[unrtbf]/.test(unicode) ? toByteString(JSON.parse(`"${unicode}"`)) : found.slice(1);
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

export const layers: {
  /** Text in HTML: `&lt;b&gt;`. Also RCDATA, as in `<title>`. */
  'html-text': Codec;
  'html-attribute': Codec;
  'html-unquoted': Codec;
  /** All of an unquoted value. Adds quotes. */
  'html-unquoted-whole': Codec;
  'xml-text': Codec;
  'xml-attribute': Codec;
  /** Forms no "]]>" with what is around it. */
  cdata: Codec;
  /** A JSON string, without its quotes. */
  json: Codec;
  /** Without `<`: in a script, or in a file that avoids it. */
  'json-in-script': Codec;
  /** Part of a URL. */
  url: Codec;
  /** In a query that writes spaces as `+`. */
  'url-query': Codec;
  /** Around all others, in a file that declares another encoding than UTF-8. Only written. */
  ascii: Codec;
} = {
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
