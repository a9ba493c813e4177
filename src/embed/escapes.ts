import { escapeText, escapeUTF8 } from 'entities/escape';
import { applyEdits, type Edit } from '../markup/edits.ts';
import { walk } from '../markup/walk.ts';

/** Writes a character as a numeric reference of HTML and XML: `&#38;`. */
export const toReference = (character: string): string => `&#${character.codePointAt(0)};`;

/** Writes a UTF-16 code unit as an escape of JSON and JavaScript: `\u0026`. */
export const toUnicodeEscape = (unit: string): string =>
  `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

const toCssEscape = (character: string) => `\\${character.codePointAt(0)?.toString(16)} `;
const toPercentEscape = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

/** Escapes text for the text of HTML, which allows no NUL, and reads a carriage return as a line feed. */
export const escapeHtml = (text: string): string =>
  escapeText(text.replaceAll('\0', '\ufffd')).replaceAll('\r', '&#13;');

/** Escapes text for an attribute of HTML, in whichever quotes. */
export const escapeHtmlAttribute = (text: string): string =>
  escapeHtml(text).replaceAll('"', '&quot;').replaceAll("'", '&#39;');

/** Escapes text for part of an attribute of HTML without quotes. */
export const escapeUnquoted = (text: string): string =>
  escapeHtmlAttribute(text).replace(/[\t\n\f =`]/g, toReference);

/** Escapes text for the text of XML. */
export const escapeXml = (text: string): string =>
  withoutControls(text).replace(/[&<>]/g, escapeUTF8).replaceAll('\r', '&#13;');

/** Escapes text for an attribute of XML, in which white space would be read as a space. */
export const escapeXmlAttribute = (text: string): string =>
  escapeUTF8(withoutControls(text)).replace(/[\t\n\r]/g, toReference);

/** Escapes text for a CDATA section, so that it forms no "]]>" with the text around it. */
export function escapeCdata(text: string): string {
  return withoutControls(text)
    .replace(/(^|\])(?=>)|\]$|^$/g, '$&]]><![CDATA[')
    .replaceAll('\r', ']]>&#13;<![CDATA[');
}

/** Replaces the characters that XML cannot contain, even escaped. */
function withoutControls(text: string) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML forbids.
  return text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd');
}

/** Escapes text for a JSON string. */
export const escapeJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Escapes text for a JSON string in a script of HTML, which ends at `</script`. */
export const escapeJsonInScript = (text: string): string =>
  escapeJson(text).replace(/[<>&\u2028\u2029]/g, toUnicodeEscape);

/** Escapes text for part of a URL. */
export const escapeUrl = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, toPercentEscape);

/** Escapes text for an address or a number in a URL, where `+`, `@` and `,` stand for themselves. */
export const escapeUrlAddress = (text: string): string =>
  escapeUrl(text).replace(/%(?:2B|40|2C)/g, decodeURIComponent);

/** Escapes text for the query of a URL that writes spaces as `+`. */
export const escapeUrlQuery = (text: string): string => escapeUrl(text).replaceAll('%20', '+');

const nonAsciiUnits = /[\u0080-\uffff]/g;
const nonAsciiCharacters = /[\u0080-\u{10ffff}]/gu;
const escapeUnits = (text: string) => text.replace(nonAsciiUnits, toUnicodeEscape);
const escapeCharacters = (text: string) => text.replace(nonAsciiCharacters, toReference);

/**
 * Writes encoded text in ASCII, for a file that is not in UTF-8, with the escapes that are read at its place.
 *
 * @param layer the outermost encoding of the text; `undefined` for HTML that is not encoded.
 */
export function escapeNonAscii(text: string, layer?: string): string {
  if (layer?.startsWith('json')) return escapeUnits(text);
  if (layer === 'cdata') {
    return text.replace(/[\u0080-\uffff]+/g, (run) => `]]>${escapeCharacters(run)}<![CDATA[`);
  }
  return escapeCharacters(escapeRawText(text));
}

/** Writes scripts and styles in HTML in ASCII, with their own escapes: they do not read `&#228;`. */
function escapeRawText(html: string) {
  const edits: Edit[] = [];
  walk(html, '', {
    open: ({ name }) => name,
    text({ start, end }, element, kind) {
      if (kind !== 'raw') return;
      const code = html.slice(start, end);
      const escaped = element === 'style' ? code.replace(nonAsciiCharacters, toCssEscape) : escapeUnits(code);
      edits.push({ start, end, text: escaped });
    },
  });
  return applyEdits(html, edits);
}
