import { tagAt } from '../markup/tags.ts';

/** Their contents are not shown as part of the page around them. */
export const contentHidingElements: Set<string> = new Set(
  `audio canvas details dialog iframe math noembed noframes noscript object plaintext script select style svg
  template textarea title video xmp`.split(/\s+/),
);

/** Whether HTML is text and complete tags that hide nothing. What any other leaves open, only a parser knows. */
export function hasOnlyOrdinaryTags(html: string): boolean {
  // In a <noscript>, HTML may be raw text, which an end tag ends even in an attribute.
  if (/<\/noscript|<$/i.test(html)) return false;
  const markup = /<(?=[a-z/!?])/gi;
  for (let found = markup.exec(html); found; found = markup.exec(html)) {
    const tag = /^.\/?[a-z]/i.test(html.slice(found.index, found.index + 3)) && tagAt(html, found.index);
    // Behind a <col>, a parser may drop other elements.
    if (!tag || contentHidingElements.has(tag.name) || /^(?:col|colgroup|frameset)$/.test(tag.name))
      return false;
    markup.lastIndex = tag.end;
  }
  return true;
}
