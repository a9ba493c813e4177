import type { DoubtfulFlaw, EmbedFault } from '../embed/found-embed.ts';
import type { ErrorCode } from '../failures/error-table.ts';
import { count } from '../text/format.ts';

export const faultTexts: Record<EmbedFault['flaw'], [ErrorCode, string]> = {
  unclosed: ['embed-unclosed', 'The embed has no end tag.'],
  nested: ['embed-nested', 'The embed is inside the one of line {line}.'],
  'in-attribute': ['embed-in-attribute', 'The embed is in the attribute {attribute}, which contains code.'],
  'in-script': ['embed-in-script', 'The embed is in a script that runs.'],
  'in-style': ['embed-in-script', 'The embed is in a style sheet.'],
  'in-xml': ['embed-in-xml', 'The embed is an element of XML.'],
  unrendered: ['unrendered-component', '<Snippet> was not rendered: it is in the page as it was written.'],
};

export const andMore = (times: number): string => (times === 0 ? '' : ` and ${count(times, 'more time')}`);

const leftAsIs =
  'It is left as it is. If it is an example, silence this with data-snippets-ignore or the option exclude.';

export const warningTexts: Record<DoubtfulFlaw, string> = {
  unclosed: `text that looks like an embed has no end tag. ${leftAsIs}`,
  nested: `text looks like an embed inside another embed. ${leftAsIs}`,
  unrendered:
    'shows the text of a <Snippet> that was not rendered. In Markdown, frontmatter and data, write <snippet-embed id="42"></snippet-embed>. Put an example between backticks.',
  'invalid-id': `text that looks like an embed has no valid id. ${leftAsIs}`,
  'in-id':
    'the id of a heading was made from the tag of an embed, before its snippet was known. Write the heading as <h2 id="…">.',
  'in-xhtml':
    'shows a snippet in XHTML. Browsers that read the page as XML show none of it if the HTML of the snippet is not well-formed. Serve the page as text/html, or use as="text".',
  'utf-16': 'the file is UTF-16, in which embeds are not found, and stay. Write it as UTF-8.',
  'in-code':
    'an embed is in a fence or between backticks, in text that may be Markdown or HTML. It is left as it is. If it is an example, write it in <code>, or silence this with the option exclude. Otherwise, write the backticks before it as &#96;.',
};
