import { tagAt } from '../markup/tags.ts';

/** Elements whose contents are not part of the page around them. Left open, they swallow the rest of it. */
export const contentHidingElements: Set<string> = new Set(
  `audio canvas details dialog iframe math noembed noframes noscript object plaintext script select style svg
  template textarea title video xmp`.split(/\s+/),
);

/** Elements behind which a parser may drop others, so HTML that contains them has to be parsed. */
const tableColumns = /^(?:col|colgroup|frameset)$/;

/** Whether HTML is text and complete tags that leave nothing open anywhere. A parser judges any other. */
export function hasOnlyOrdinaryTags(html: string): boolean {
  // HTML in a <noscript> may be raw text, which an end tag ends even in an attribute. A final `<` would open
  // a tag with the page's next letter.
  if (/<\/noscript|<$/i.test(html)) return false;

  // A tag, or what HTML takes for a comment: `<!--`, `<!doctype`, `<?php`. Any other `<` is text.
  const markup = /<(?=[a-z/!?])/gi;
  for (let match = markup.exec(html); match; match = markup.exec(html)) {
    const isTag = /^.\/?[a-z]/i.test(html.slice(match.index, match.index + 3));
    const tag = isTag && tagAt(html, match.index);
    if (!tag || contentHidingElements.has(tag.name) || tableColumns.test(tag.name)) return false;
    markup.lastIndex = tag.end;
  }
  return true;
}
