import { intendedName } from '../text/intended-name.ts';

/**
 * The name of the element that pages embed snippets with. What tells whether a file may contain the element
 * is in this file, apart from the scanner: a site without embeds does not load the scanner.
 */
export const elementName = 'snippet-embed';

/** Matches the name of the element. No encoding changes it, so encoded text can be searched, too. */
export const embedNamePattern: RegExp = /snippet-embed/i;

/** Matches an embed's tag in a slug, which keeps the letters and digits, and replaces or drops the rest. */
export const embedSlugPattern: RegExp = /snippet-embed[\W_]*id[\W_]*\d/i;

/** Matches the name in `<Snippet id={42} />`, published instead of rendered, in any encoding of the `<`. */
export const unrenderedComponentPattern: RegExp =
  /snippet(?<=(?:<|lt;|#0*60;?|x0*3c;?|u003c)snippet)(?=[\t\n\f\r ][^<>]{0,300}\b(?:id|of)=)/i;

/** Whether text may contain embeds, or what was meant as an embed. Many times faster than a scan. */
export const mayContainEmbed = (text: string): boolean =>
  embedNamePattern.test(text) || unrenderedComponentPattern.test(text);

/** The form in which an embed shows a snippet: its HTML, or the text of its HTML. */
export type EmbedAs = 'html' | 'text';

const attributeNames = ['id', 'params', 'as', 'optional'] as const;

type AttributeName = (typeof attributeNames)[number];

/** The values of an embed's attributes, decoded but not checked. */
export type EmbedAttributes = { [Name in AttributeName]?: string | undefined };

/** Whether a name, in lower case, is that of an embed's own attribute. */
export const isEmbedAttribute = (name: string): name is AttributeName =>
  (attributeNames as readonly string[]).includes(name);

/** Finds the attribute that a misspelled name means. */
export const intendedAttribute = (written: string): AttributeName | undefined =>
  intendedName(written, attributeNames);
