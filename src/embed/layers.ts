import { decodeHTML, decodeHTMLAttribute, decodeXML } from 'entities/decode';
import { toByteString } from '../markup/edits.ts';
import {
  escapeCdata,
  escapeHtml,
  escapeHtmlAttribute,
  escapeJson,
  escapeJsonInScript,
  escapeNonAscii,
  escapeUnquoted,
  escapeUrl,
  escapeUrlAddress,
  escapeUrlQuery,
  escapeXml,
  escapeXmlAttribute,
} from './escapes.ts';

/** An encoding around text, such as that of an attribute or of a JSON string. */
export type Layer =
  | 'html-text'
  | 'html-attribute'
  | 'html-unquoted'
  | 'html-unquoted-whole'
  | 'xml-text'
  | 'xml-attribute'
  | 'cdata'
  | 'json'
  | 'json-in-script'
  | 'url'
  | 'url-address'
  | 'url-query'
  | 'script-template'
  | 'ascii';

/** How the scanner undoes an encoding. */
interface Decoder {
  /** Matches one escaped character. */
  escaped: RegExp;
  /** Returns the character of an escape sequence as a byte string: one character for each byte of UTF-8. */
  decode(sequence: string): string;
}

interface Codec extends Decoder {
  /** Encodes text. `innerLayer` is the encoding that was applied to the text just before, if any. */
  encode(text: string, innerLayer?: Layer): string;
}

// Some references need no semicolon in the text of HTML.
const htmlText: Decoder = {
  escaped: /&(?:#x[\da-f]+;?|#\d+;?|[a-z][\da-z]*;|(?:lt|gt|amp|quot))/gi,
  decode: (sequence) => toByteString(decodeHTML(sequence)),
};

// A reference without a semicolon counts in an attribute only if no "=", letter or digit follows.
const htmlAttribute: Decoder = {
  escaped: /&(?:#x[\da-f]+;?|#\d+;?|[a-z][\da-z]*;|(?:lt|gt|amp|quot)(?![\da-z=]))/gi,
  decode: (sequence) => toByteString(decodeHTMLAttribute(sequence)),
};

const xml: Decoder = {
  escaped: /&(?:#x[\da-f]+|#\d+|lt|gt|amp|quot|apos);/gi,
  decode: (sequence) => toByteString(decodeXML(sequence)),
};

/** The boundary between two CDATA sections into which one text is split. It is read as nothing. */
const cdata: Decoder = { escaped: /\]\]><!\[CDATA\[/g, decode: () => '' };

const json: Decoder = {
  escaped:
    /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|[^ux])/gs,
  decode(sequence) {
    // JavaScript has `\x3c`, and may escape any character. `JSON.parse` reads neither, so both are decoded here.
    const unicodeEscape = sequence.replace('\\x', '\\u00');
    if (!/^\\[unrtbf]/.test(unicodeEscape)) return sequence.slice(1);
    return toByteString(JSON.parse(`"${unicodeEscape}"`));
  },
};

// Each percent escape is one byte of UTF-8, so the result is a byte string already.
const decodePercentEscape = (sequence: string) => String.fromCharCode(Number.parseInt(sequence.slice(1), 16));

const url: Decoder = { escaped: /%[\da-f]{2}/gi, decode: decodePercentEscape };

const urlQuery: Decoder = {
  escaped: /%[\da-f]{2}|\+/gi,
  decode: (sequence) => (sequence === '+' ? ' ' : decodePercentEscape(sequence)),
};

/** Matches nothing, for layers without escapes of their own. */
const nothing: Decoder = { escaped: /(?!)/g, decode: (sequence) => sequence };

/** The encodings that can be around an embed. Several are read alike, and written differently. */
export const layers: Readonly<Record<Layer, Codec>> = {
  /** Text in HTML: `&lt;b&gt;`. Also RCDATA, as in `<title>`. */
  'html-text': { ...htmlText, encode: escapeHtml },
  /** The value of an attribute, in quotes. */
  'html-attribute': { ...htmlAttribute, encode: escapeHtmlAttribute },
  /** Part of an attribute's value without quotes. */
  'html-unquoted': { ...htmlAttribute, encode: escapeUnquoted },
  /** All of an attribute's value without quotes. Adds quotes, or an empty text would leave no value. */
  'html-unquoted-whole': { ...htmlAttribute, encode: (text) => `"${escapeHtmlAttribute(text)}"` },
  'xml-text': { ...xml, encode: escapeXml },
  'xml-attribute': { ...xml, encode: escapeXmlAttribute },
  cdata: { ...cdata, encode: escapeCdata },
  /** A JSON string, without its quotes. */
  json: { ...json, encode: escapeJson },
  /** A JSON string that writes `<` as an escape: in a script, or in a file that avoids tags. */
  'json-in-script': { ...json, encode: escapeJsonInScript },
  /** Part of a URL. */
  url: { ...url, encode: escapeUrl },
  /** Part of the address in `mailto:`, `tel:` and the like. */
  'url-address': { ...url, encode: escapeUrlAddress },
  /** Part of the query of a URL that writes spaces as `+`. */
  'url-query': { ...urlQuery, encode: escapeUrlQuery },
  /** HTML in a script, which ends at `</script`: content with that is refused (content/prepare-snippet.ts). */
  'script-template': { ...nothing, encode: (text) => text },
  /** Outermost in a file that declares another encoding than UTF-8. Only for writing: nothing is decoded. */
  ascii: { ...nothing, encode: escapeNonAscii },
};

/** Encodes text through layers, given from the outermost to the innermost. */
export function encode(text: string, textLayers: readonly Layer[]): string {
  return textLayers.reduceRight(
    (encoded, layer, index) => layers[layer].encode(encoded, textLayers[index + 1]),
    text.toWellFormed(),
  );
}
