import { applyEdits } from '../markup/edits.ts';
import { contexts, type Element, elementsOf } from './parse.ts';

// Browsers ignore control characters and white space before and in the scheme.
const javascriptUrl = new RegExp(`(^|;)[\\0-\\x20]*${[...'javascript:'].join('[\\t\\n\\r]*')}`, 'i');

/** The edits that remove what would run as a script anywhere, and `srcdoc`. Not a sanitizer, which untrusted authors need. */
export function findScripts(html: string): {
  what: string;
  start: number;
  end: number;
  text: string;
}[] {
  const found = contexts.flatMap((before) => {
    const elements = elementsOf(before + html, { templates: true });
    return elements.flatMap((one) => scriptsOf(one, html, before.length));
  });
  return [...new Map(found.map((one) => [`${one.start} ${one.end}`, one])).values()];
}

// Each parses everything. Only HTML made for it needs over three.
const mostPasses = 20;

/** Removes scripts, and nothing else. @returns `undefined` if each pass joins what is around them to others */
export function stripScripts(html: string): string | undefined {
  let stripped = html;
  for (let pass = 0; pass < mostPasses; pass += 1) {
    const found = findScripts(stripped);
    if (found.length === 0) return stripped;
    stripped = applyEdits(stripped, found);
  }
  return undefined;
}

function scriptsOf({ tagName, attrs, sourceCodeLocation: place }: Element, html: string, shift: number) {
  if (!place) return [];
  const start = place.startOffset - shift;
  // The parser has no location for the end of the text.
  const end = place.endOffset > place.startOffset ? place.endOffset - shift : html.length;
  if (tagName === 'script') return [{ what: '<script>', start, end, text: '' }];
  return attrs.flatMap(({ name, prefix, value }) => {
    const written = name.toLowerCase();
    const runs = /^(?:on.|srcdoc$)/.test(written);
    if (!runs && !javascriptUrl.test(value)) return [];
    const what = runs ? `the attribute ${written}` : `a javascript: URL in ${written}`;
    const at = place.attrs?.[prefix ? `${prefix}:${written}`.toLowerCase() : written];
    // Without a location, it is removed with its element.
    const edit = at ? { start: at.startOffset - shift, end: at.endOffset - shift } : { start, end };
    return [{ what, ...edit, text: '' }];
  });
}
