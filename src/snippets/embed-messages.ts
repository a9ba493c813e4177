import type { DoubtfulFlaw, EmbedFault } from '../embed/found-embed.ts';
import type { ErrorCode } from '../failures/error-table.ts';
import { count } from '../text/format.ts';

/**
 * What the report of a failed build says about an embed that is in a place where none can be. `{line}` is the
 * line of the outer embed, `{holder}` the name of the attribute, or the type of the script.
 */
export const faultTexts: Readonly<Record<EmbedFault['flaw'], { code: ErrorCode; text: string }>> = {
  unclosed: { code: 'embed-unclosed', text: 'The embed has no end tag.' },
  nested: { code: 'embed-nested', text: 'The embed is inside the one of line {line}.' },
  'in-attribute': {
    code: 'embed-in-attribute',
    text: 'The embed is in the attribute {holder}, which contains code.',
  },
  'in-script': { code: 'embed-in-script', text: 'The embed is in a script that runs.' },
  'in-style': { code: 'embed-in-script', text: 'The embed is in a style sheet.' },
  'in-unknown-script': {
    code: 'embed-in-script',
    text: 'The embed is in a script of the type {holder}, whose syntax is unknown.',
  },
  'in-format': {
    code: 'embed-in-format',
    text: 'The embed is in a file whose syntax is unknown, so its content cannot be escaped.',
  },
  unrendered: {
    code: 'unrendered-component',
    text: '<Snippet> was not rendered: it is in the page as it was written.',
  },
};

const leftAsIs =
  'It is left as it is. If it is an example, silence this with data-snippets-ignore or the option exclude.';

/** Warnings about embeds that may not work, or may not be meant. File and line precede each text. */
export const warningTexts: Readonly<Record<DoubtfulFlaw, string>> = {
  unclosed: `text that looks like an embed has no end tag. ${leftAsIs}`,
  nested: `text looks like an embed inside another embed. ${leftAsIs}`,
  unrendered:
    'shows the text of a <Snippet> that was not rendered. In Markdown, frontmatter and data, write <snippet-embed id="42"></snippet-embed>. Put an example between backticks.',
  'invalid-id': `text that looks like an embed has no valid id. ${leftAsIs}`,
  'in-id':
    'the id of a heading was made from the tag of an embed, before its snippet was known. Write the heading as <h2 id="…">.',
  'in-xhtml':
    'shows a snippet in XHTML. Browsers that read the page as XML show none of it if the HTML of the snippet is not well-formed. Serve the page as text/html, or use as="text".',
  'in-xml':
    'an embed is an element of XML, so it shows text. Escape the embed, or put it into a CDATA section, to show HTML.',
  'too-deep': `text that looks like an embed is encoded more than six times. ${leftAsIs}`,
  'utf-16': 'the file is UTF-16, in which embeds are not found, and stay. Write it as UTF-8.',
  'in-code':
    'an embed is in a fence or between backticks, in text that may be Markdown or HTML. It is left as it is. If it is an example, write it in <code>, or silence this with the option exclude. Otherwise, write the backticks before it as &#96;.',
};

/** The end of a place in a message: how many more places are like that one. Empty for none. */
export const andMore = (times: number): string => (times === 0 ? '' : ` and ${count(times, 'more time')}`);
