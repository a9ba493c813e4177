import { contentHidingElements } from './ordinary-tags.ts';
import { type Element, elementsOf } from './parse.ts';

const constructs: Record<string, string> = {
  'eof-in-comment': 'a comment',
  'eof-in-tag': 'a tag, or a quote in it,',
  'eof-in-doctype': 'a doctype',
  'eof-in-cdata': 'a CDATA section',
};

/** What HTML leaves open that swallows the rest of a page, unlike an open `<b>`. @param before one of `contexts` */
export function leftOpen(html: string, before = ''): string | undefined {
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
