import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';
import { applyEdits } from '../embed/html-scanner.ts';
import { contentHidingElements, hashSource } from './rules.ts';

// Loaded only for content that needs a parser.

type Element = DefaultTreeAdapterTypes.Element;

/** Where HTML may be, as the start tags before it: text in one place is a script in another. Any place is like one of these. */
export const contexts =
  ' <noscript> <svg> <svg><foreignObject> <math><mtext> <select> <table> <template>'.split(' ');

/** All elements as a browser with scripting parses them, in order; with `templates`, also theirs. `errors` gets error codes. */
export function elementsOf(
  html: string,
  { templates = false, errors }: { templates?: boolean; errors?: string[] } = {},
): Element[] {
  const fragment = parseFragment(html, {
    sourceCodeLocationInfo: true,
    onParseError: errors ? ({ code }) => errors.push(code) : null,
  });
  const elements: Element[] = [];
  // Without recursion: content may be nested deeper than the call stack allows.
  const open = [...fragment.childNodes].reverse();
  for (let node = open.pop(); node; node = open.pop()) {
    if (!('tagName' in node)) continue;
    elements.push(node);
    const inside = templates && 'content' in node ? node.content.childNodes : [];
    for (const child of [...node.childNodes, ...inside].reverse()) open.push(child);
  }
  return elements;
}

const constructs: Record<string, string> = {
  'eof-in-comment': 'a comment',
  'eof-in-tag': 'a tag, or a quote in it,',
  'eof-in-doctype': 'a doctype',
  'eof-in-cdata': 'a CDATA section',
};

/** What HTML leaves open that swallows the rest of a page, unlike an open `<b>`. @param before one of `contexts` */
export function leftOpen(html: string, before = '') {
  // A tag, together with the letter that may follow.
  if (html.endsWith('<')) return constructs['eof-in-tag'];
  const whole = before + html;
  const swallows = ({ tagName, sourceCodeLocation: place }: Element) =>
    contentHidingElements.has(tagName) && place && place.startOffset >= before.length;
  // Stands for the rest of the page. It is swallowed if it is no element, or, without a context, in a <template>.
  const rest = elementsOf(`${whole}<snippet-end></snippet-end>`, { templates: before !== '' }).find(
    ({ sourceCodeLocation: place }) => place?.startOffset === whole.length,
  );
  if (rest) {
    let around: Element | undefined;
    for (let node = rest.parentNode; node && 'tagName' in node; node = node.parentNode) {
      if (swallows(node)) around = node;
    }
    return around && `<${around.tagName}>`;
  }
  // In <noscript> and <select>, it may be missing anyway.
  const errors: string[] = [];
  const elements = elementsOf(whole, { errors });
  const open = elements.findLast((one) => swallows(one) && !one.sourceCodeLocation?.endTag);
  const construct = errors.map((code) => constructs[code]).find(Boolean);
  return construct ?? (open && `<${open.tagName}>`) ?? (before === '' ? 'a comment or a tag' : undefined);
}

// Browsers ignore control characters and white space before and in the scheme.
const javascriptUrl = new RegExp(`(^|;)[\\0-\\x20]*${[...'javascript:'].join('[\\t\\n\\r]*')}`, 'i');

/** The edits that remove what would run as a script anywhere, and `srcdoc`. Not a sanitizer, which untrusted authors need. */
export function findScripts(html: string) {
  const found = contexts.flatMap((before) => {
    const elements = elementsOf(before + html, { templates: true });
    return elements.flatMap((one) => scriptsOf(one, html, before.length));
  });
  return [...new Map(found.map((one) => [`${one.start} ${one.end}`, one])).values()];
}

// Each parses everything. Only HTML made for it needs over three.
const mostPasses = 20;

/** Removes scripts, and nothing else. @returns `undefined` if each pass joins what is around them to others */
export function stripScripts(html: string) {
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

// A script of any other `type` is a data block, which policies ignore.
const javaScriptType = /^(|module|importmap|speculationrules|(text|application)\/(x-)?(java|ecma)script)$/;

export type InlineCode = ReturnType<typeof findInlineCode>;

/** What a policy has to allow for HTML (Content Security Policy Level 3). */
export function findInlineCode(html: string) {
  const scripts: string[] = [];
  const styles: string[] = [];
  /** Event handlers or style attributes, which no hash can allow. */
  let hasAttributes = false;
  for (const { tagName, attrs, childNodes } of elementsOf(html)) {
    const text = childNodes.map((node) => ('value' in node ? node.value : '')).join('');
    const given = new Map(attrs.map(({ name, value }) => [name, value]));
    const isInline = !given.has('src') && !given.has('href');
    const type = (given.get('type') ?? '').trim().toLowerCase();
    if (tagName === 'script' && isInline && javaScriptType.test(type)) scripts.push(hashSource(text));
    if (tagName === 'style') styles.push(hashSource(text));
    hasAttributes ||= attrs.some(({ name }) => name === 'style' || /^on./.test(name));
  }
  return { scripts, styles, hasAttributes };
}
