import { elementFacts } from '../markup/elements.ts';
import { isLetter, tagAt } from '../markup/tags.ts';

/** Elements whose contents are not part of the page around them. Left open, they swallow the rest of it. */
export const contentHidingElements: Set<string> = new Set(
  `audio canvas details dialog iframe math noembed noframes noscript object plaintext script select style svg
  template textarea title video xmp`.split(/\s+/),
);

/** Elements that browsers open again in what follows, until their end tags: the HTML Standard's "formatting". */
export const formattingElements: Set<string> = new Set(
  'a b big code em font i nobr s small strike strong tt u'.split(' '),
);

/**
 * Elements that stay open behind the end of the elements around them: browsers put what follows into them, or
 * ignore each other form.
 */
export const containerElements: Set<string> = new Set(['applet', 'form', 'marquee', 'table']);

/**
 * Elements behind which a parser may drop others, or may not find the start of a formatting element, so HTML that
 * contains them has to be parsed.
 */
const needsParser = /^(?:applet|col|colgroup|frameset|marquee)$/;

/** Formatting elements whose start tags close an open one of the same name. */
const closesItself = /^(?:a|nobr)$/;

/** The most elements inside each other whose names are compared. Without a limit, time would be quadratic. */
const maxFormattedDepth = 100;

const staysOpen = (name: string) => formattingElements.has(name) || containerElements.has(name);

/** Whether HTML is text and complete tags that leave nothing open anywhere. A parser judges any other. */
export function hasOnlyOrdinaryTags(html: string): boolean {
  // HTML in a <noscript> may be raw text, which an end tag ends even in an attribute. A final `<` would open
  // a tag with the page's next letter.
  if (/<\/noscript|<$/i.test(html)) return false;

  // The open elements from the outermost on that could stay open. Inside it, tags have to be well-formed.
  const open: string[] = [];
  // A tag, or what HTML takes for a comment: `<!--`, `<!doctype`, `<?php`. Any other `<` is text.
  const markup = /<(?=[a-z/!?])/gi;
  for (let match = markup.exec(html); match; match = markup.exec(html)) {
    const { index } = match;
    const isEndTag = html[index + 1] === '/';
    const tag = isLetter(html.charCodeAt(isEndTag ? index + 2 : index + 1)) && tagAt(html, index);
    if (!tag || contentHidingElements.has(tag.name) || needsParser.test(tag.name)) return false;
    markup.lastIndex = tag.end;

    if (isEndTag) {
      if (open.length > 0 && open.pop() !== tag.name) return false;
    } else if (open.length === 0 ? staysOpen(tag.name) : !elementFacts.get(tag.name)?.isVoid) {
      // A link closes the link around it, and may leave copies of that one open.
      const mayClose = closesItself.test(tag.name) && open.includes(tag.name);
      if (mayClose || open.length === maxFormattedDepth) return false;
      open.push(tag.name);
    }
  }
  return open.length === 0;
}
