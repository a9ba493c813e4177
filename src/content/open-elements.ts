import { containerElements, contentHidingElements, formattingElements } from './ordinary-tags.ts';
import { elementsOf, type ParsedElement } from './parse.ts';

/** Names for what is left open, by the parse error that it causes at the end of the text. */
const openConstructs: Readonly<Record<string, string>> = {
  'eof-in-comment': 'a comment',
  'eof-in-tag': 'a tag, or a quote in it,',
  'eof-in-doctype': 'a doctype',
  'eof-in-cdata': 'a CDATA section',
};

/** An element put behind the HTML in place of the rest of the page, to see where the parser puts it. */
const restOfPage = '<snippet-end></snippet-end>';

/** What HTML leaves open, so that the rest of the page is not what its author wrote. */
export interface LeftOpen {
  /** A name for people: "a comment", "<textarea>", "<b> and <a>". */
  what: string;
  /** Whether the rest of the page is lost, as in a comment. Otherwise it is bold or a link, for example. */
  isLost: boolean;
  /** The offset at which that begins; `undefined` if it is not known. */
  start: number | undefined;
}

/** Matches HTML that begins with a part of a table, and so can be meant for a table only. */
const tablePart = /^\s*<(?:caption|col|colgroup|tbody|td|tfoot|th|thead|tr)[\s/>]/i;

/**
 * Finds what HTML leaves open that swallows the rest of the page, such as a comment or `<textarea>`, or that
 * continues in it, such as `<b>`.
 *
 * The HTML is parsed with an element behind it. If the parser loses that element, or puts it into one that
 * hides its content, the rest of the page would be lost, too. If it is in a `<b>`, the rest would be bold.
 *
 * @param before the start tags before the HTML: one of `contexts`
 * @returns `undefined` if the rest of the page is as it would be without the HTML.
 */
export function leftOpen(html: string, before = ''): LeftOpen | undefined {
  // A final `<` would open a tag with the page's next letter.
  if (html.endsWith('<')) return lost(openConstructs['eof-in-tag'], html.length - 1);

  const whole = before + html;
  const isHiding = ({ tagName, sourceCodeLocation: location }: ParsedElement) =>
    contentHidingElements.has(tagName) && location && location.startOffset >= before.length;

  // An element in a <template> counts as lost, and is not listed, unless the <template> is the context.
  const rest = elementsOf(whole + restOfPage, { templates: before !== '' }).find(
    ({ sourceCodeLocation: location }) => location?.startOffset === whole.length,
  );
  if (rest) {
    const ancestors = ancestorsOf(rest);
    const hiding = ancestors.findLast(isHiding);
    if (hiding) return lost(`<${hiding.tagName}>`, offsetOf(hiding, before.length));
    const open = [...leftContainers(html, before), ...leftFormatting(ancestors, html, before)];
    if (open.length === 0) return undefined;
    // The parser may have copied an element.
    const tags = new Set(open.map(({ name }) => `<${name}>`));
    const starts = open.flatMap(({ start }) => start ?? []);
    return {
      what: [...tags].join(' and '),
      isLost: false,
      start: starts.length > 0 ? Math.min(...starts) : undefined,
    };
  }

  const errors: string[] = [];
  const elements = elementsOf(whole, { errors });
  const construct = errors.map((code) => openConstructs[code]).find(Boolean);
  if (construct) return lost(construct, constructStart(html, elements, before.length));
  const open = elements.findLast((element) => isHiding(element) && !element.sourceCodeLocation?.endTag);
  if (open) return lost(`<${open.tagName}>`, offsetOf(open, before.length));
  // A <noscript> or a <select> around the content may drop the element although nothing is open.
  return before === '' ? lost('a comment or a tag') : undefined;
}

const lost = (what = '', start?: number): LeftOpen => ({ what, isLost: true, start });

/** An element that is left open, and the offset at which it begins in the HTML. */
interface LeftOpenElement {
  name: string;
  start: number | undefined;
}

/** @param shift the length of the start tags before the HTML, which the parser's offsets include */
function offsetOf({ sourceCodeLocation: location }: ParsedElement, shift: number): number | undefined {
  return location ? location.startOffset - shift : undefined;
}

/** Finds where a comment or a tag begins that has no end: behind the last tag that has one. */
function constructStart(html: string, elements: readonly ParsedElement[], shift: number): number | undefined {
  const ends = elements.flatMap(({ sourceCodeLocation: location }) =>
    [location?.startTag, location?.endTag].flatMap((tag) => tag?.endOffset ?? []),
  );
  const lastEnd = ends.reduce((last, end) => Math.max(last, end - shift), 0);
  const closedOrNot = html.slice(lastEnd).matchAll(/<!--[\s\S]*?-->|<(?=[a-z/!?])/gi);
  const open = closedOrNot.find(([text]) => text === '<');
  return open && lastEnd + open.index;
}

/** Names the formatting elements around the rest of the page. No context has any, so they are of the HTML. */
function leftFormatting(ancestors: ParsedElement[], html: string, before: string): LeftOpenElement[] {
  // In SVG, elements with these names are others. Parts of a table are not put where these contexts are.
  if (before === '<svg>' || (tablePart.test(html) && /foreign|math/.test(before))) return [];
  return ancestors
    .filter(({ tagName }) => formattingElements.has(tagName))
    .map((element) => ({ name: element.tagName, start: offsetOf(element, before.length) }))
    .reverse();
}

/**
 * Names what the end of the element around the HTML does not close, or what makes browsers ignore a `<form>`
 * behind it. Tried where the HTML is put among other elements.
 */
function leftContainers(html: string, before: string): LeftOpenElement[] {
  if (before !== '') return [];
  const start = '<div>';
  const form = start.length + html.length + '</div>'.length;
  const elements = elementsOf(`${start}${html}</div><form>${restOfPage}`);
  const rest = elements.find(
    ({ sourceCodeLocation: location }) => location?.startOffset === form + '<form>'.length,
  );
  const ancestors = rest ? ancestorsOf(rest) : [];
  const isInForm = ancestors.some(({ sourceCodeLocation: location }) => location?.startOffset === form);
  const isContainer = ({ tagName }: ParsedElement) => containerElements.has(tagName);
  const isOpen = ({ sourceCodeLocation: location }: ParsedElement) =>
    location && location.startOffset < form && !location.endTag;
  const around = ancestors.find(
    (element) => isContainer(element) && isOpen(element) && element.tagName !== 'form',
  );
  if (isInForm && !around) return [];
  const open = elements.findLast((element) => isContainer(element) && isOpen(element));
  return open ? [{ name: open.tagName, start: offsetOf(open, start.length) }] : [];
}

/** The elements around an element, the innermost first. */
function ancestorsOf(element: ParsedElement) {
  const ancestors: ParsedElement[] = [];
  for (let node = element.parentNode; node && 'tagName' in node; node = node.parentNode) ancestors.push(node);
  return ancestors;
}
