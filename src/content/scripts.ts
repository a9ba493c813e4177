import { isRunningType, runsAsUrl } from '../embed/syntax.ts';
import { applyEdits, type Edit } from '../markup/edits.ts';
import { contexts, elementsOf, type ParsedElement } from './parse.ts';

/** Something that would run as a script, and the edit that removes it. */
export interface FoundScript extends Edit {
  /** A name for people: "<script>", "the attribute onclick". */
  what: string;
  /** Whether a browser runs it. It does not run a `<script>` of a type such as `application/ld+json`. */
  runs: boolean;
}

/** Whether a value is a `javascript:` URL, or has one behind a `;`, as in `<animate values="#a;javascript:x">`. */
export const holdsScriptUrl = (value: string): boolean => value.split(';').some(runsAsUrl);

/** Attributes that run scripts: event handlers, and `srcdoc`, whose value is a page of its own. */
const scriptAttribute = /^(?:on.|srcdoc$)/;

/**
 * Finds what would run as a script in any of the places where content may be put. Not a sanitizer: content of
 * untrusted authors needs one, as styles and forms can do harm, too.
 *
 * @param places the start tags before the HTML, for each of the places
 */
export function findScripts(html: string, places: readonly string[] = contexts): FoundScript[] {
  const found = places.flatMap((before) => {
    const elements = elementsOf(before + html, { templates: true });
    return elements.flatMap((element) => scriptsOf(element, html, before.length));
  });
  // Most scripts are found in several of the contexts in which the HTML is parsed. Each is listed once.
  return [...new Map(found.map((script) => [`${script.start} ${script.end}`, script])).values()];
}

/** The most passes. Each parses all of the HTML; only HTML made to defeat this needs more than three. */
const maxPasses = 20;

/** Removes scripts only; `undefined` if the text around them forms new scripts in every pass. */
export function stripScripts(html: string): string | undefined {
  let stripped = html;
  for (let pass = 0; pass < maxPasses; pass += 1) {
    const scripts = findScripts(stripped);
    if (scripts.length === 0) return stripped;
    stripped = applyEdits(stripped, scripts);
  }
  return undefined;
}

/** @param shift the length of the start tags put before `html`, which parse5's offsets include. */
function scriptsOf(
  { tagName, attrs, sourceCodeLocation: location }: ParsedElement,
  html: string,
  shift: number,
): FoundScript[] {
  // The parser has added this element, such as a <tbody>: it is not in the HTML, so it has no script.
  if (!location) return [];
  const start = location.startOffset - shift;
  // The parser gives no end for an element that is open until the end of the text.
  const end = location.endOffset > location.startOffset ? location.endOffset - shift : html.length;
  if (tagName === 'script') {
    const type = attrs.find(({ name }) => name === 'type')?.value;
    return [{ what: '<script>', runs: isRunningType(type), start, end, text: '' }];
  }

  const scripts: FoundScript[] = [];
  for (const { name, prefix, value } of attrs) {
    const lowerName = name.toLowerCase();
    const runs = scriptAttribute.test(lowerName);
    if (!runs && !holdsScriptUrl(value)) continue;

    const what = runs ? `the attribute ${lowerName}` : `a javascript: URL in ${lowerName}`;
    const place = location.attrs?.[prefix ? `${prefix}:${lowerName}`.toLowerCase() : lowerName];
    // If parse5 does not say where the attribute is, the whole element is removed.
    const range = place ? { start: place.startOffset - shift, end: place.endOffset - shift } : { start, end };
    scripts.push({ what, runs: true, ...range, text: '' });
  }
  return scripts;
}
