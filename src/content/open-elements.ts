import { contentHidingElements } from './ordinary-tags.ts';
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

/**
 * Names what HTML leaves open that swallows the rest of the page, such as "a comment" or "<textarea>". An
 * open `<b>` makes the rest bold, but does not hide it.
 *
 * The HTML is parsed with an element behind it. If the parser loses that element, or puts it into one that
 * hides its content, the rest of the page would be lost, too.
 *
 * @param before the start tags before the HTML: one of `contexts`
 * @returns `undefined` if the rest of the page is shown.
 */
export function leftOpen(html: string, before = ''): string | undefined {
  // A final `<` would open a tag with the page's next letter.
  if (html.endsWith('<')) return openConstructs['eof-in-tag'];

  const whole = before + html;
  const isHiding = ({ tagName, sourceCodeLocation: location }: ParsedElement) =>
    contentHidingElements.has(tagName) && location && location.startOffset >= before.length;

  // An element in a <template> counts as lost, and is not listed, unless the <template> is the context.
  const rest = elementsOf(whole + restOfPage, { templates: before !== '' }).find(
    ({ sourceCodeLocation: location }) => location?.startOffset === whole.length,
  );
  if (rest) {
    const hiding = ancestorsOf(rest).findLast(isHiding);
    return hiding && `<${hiding.tagName}>`;
  }

  const errors: string[] = [];
  const elements = elementsOf(whole, { errors });
  const construct = errors.map((code) => openConstructs[code]).find(Boolean);
  if (construct) return construct;
  const open = elements.findLast((element) => isHiding(element) && !element.sourceCodeLocation?.endTag);
  if (open) return `<${open.tagName}>`;
  // A <noscript> or a <select> around the content may drop the element although nothing is open.
  return before === '' ? 'a comment or a tag' : undefined;
}

/** The elements around an element, the innermost first. */
function ancestorsOf(element: ParsedElement) {
  const ancestors: ParsedElement[] = [];
  for (let node = element.parentNode; node && 'tagName' in node; node = node.parentNode) ancestors.push(node);
  return ancestors;
}
