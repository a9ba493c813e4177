import { applyEdits, type Edit } from '../embed/edits.ts';
import { hashSource } from './content-security-policy.ts';
import { contexts, type Element, elementsOf } from './parsed-html.ts';

/** A script, as the edit that takes it out. */
export interface FoundScript extends Edit {
  /** A name for people, such as `the attribute onclick`. */
  what: string;
}

// Browsers ignore control characters and white space before and inside the scheme.
const javascriptUrl =
  /(^|;)[\0-\x20]*j[\t\n\r]*a[\t\n\r]*v[\t\n\r]*a[\t\n\r]*s[\t\n\r]*c[\t\n\r]*r[\t\n\r]*i[\t\n\r]*p[\t\n\r]*t[\t\n\r]*:/i;

/**
 * Finds everything that would run as a script, wherever the HTML is shown: elements, event handlers, `javascript:` URLs,
 * and `srcdoc`, which is a page of its own. Not a sanitizer: content of untrusted authors needs one.
 */
export function findScripts(html: string): FoundScript[] {
  const found = contexts.flatMap((before) =>
    [...elementsOf(before + html, { templates: true })]
      .flatMap((element) => scriptsOf(element, before.length + html.length))
      .map((one) => ({ ...one, start: one.start - before.length, end: one.end - before.length })),
  );
  return [...new Map(found.map((one) => [`${one.start} ${one.end}`, one])).values()];
}

// Each takes the time of parsing everything. Only HTML that is made to needs more than two or three.
const mostPasses = 20;

/**
 * Removes everything that {@link findScripts} finds. Every other byte stays. Returns `undefined` if removing scripts goes on
 * and on to join others.
 */
export function stripScripts(html: string): string | undefined {
  let stripped = html;
  // Repeated, because removing something may join what was around it to a script.
  for (let pass = 0; pass < mostPasses; pass += 1) {
    const found = findScripts(stripped);
    if (found.length === 0) return stripped;
    stripped = applyEdits(stripped, found);
  }
  return undefined;
}

function scriptsOf({ tagName, attrs, sourceCodeLocation: place }: Element, length: number): FoundScript[] {
  if (place == null) return [];
  const { startOffset: start } = place;
  // An unclosed element extends to the end, for which the parser has no location.
  const end = place.endOffset > start ? place.endOffset : length;
  if (tagName === 'script') return [{ what: '<script>', start, end, text: '' }];
  return attrs.flatMap(({ name, prefix, value }) => {
    const what = nameOf(name.toLowerCase(), value);
    if (what === undefined) return [];
    const written = (prefix ? `${prefix}:${name}` : name).toLowerCase();
    const at = place.attrs?.[written];
    // Without a location of its own, an attribute is removed with its element.
    return [{ what, start: at?.startOffset ?? start, end: at?.endOffset ?? end, text: '' }];
  });
}

function nameOf(attribute: string, value: string): string | undefined {
  if (/^on./.test(attribute) || attribute === 'srcdoc') return `the attribute ${attribute}`;
  return javascriptUrl.test(value) ? `a javascript: URL in ${attribute}` : undefined;
}

/** What a page's Content Security Policy has to allow for a piece of HTML to work. */
export interface InlineCode {
  /** Sources of its scripts and its styles, as a policy names them: `'sha256-…'`. */
  scripts: string[];
  styles: string[];
  /** Whether it has event handlers or style attributes, which no hash can allow. */
  hasAttributes: boolean;
}

// A script of any other `type` is a data block, which policies ignore.
const runs = /^(|module|importmap|speculationrules|(text|application)\/(x-)?(java|ecma)script)$/;

/** Finds the inline scripts and styles of HTML, as a policy sees them (Content Security Policy Level 3). */
export function findInlineCode(html: string): InlineCode {
  const code: InlineCode = { scripts: [], styles: [], hasAttributes: false };
  for (const element of elementsOf(html)) {
    const text = element.childNodes.map((node) => ('value' in node ? node.value : '')).join('');
    if (isInlineScript(element)) code.scripts.push(hashSource(text));
    if (element.tagName === 'style') code.styles.push(hashSource(text));
    code.hasAttributes ||= element.attrs.some(({ name }) => name === 'style' || /^on./.test(name));
  }
  return code;
}

function isInlineScript({ tagName, attrs }: Element): boolean {
  if (tagName !== 'script' || attrs.some(({ name }) => name === 'src' || name === 'href')) return false;
  return runs.test((attrs.find(({ name }) => name === 'type')?.value ?? '').trim().toLowerCase());
}
