// Apart from the scanner, so that a site without embeds does not load it.

export const elementName = 'snippet-embed';

// No encoding changes the name.
export const embedName: RegExp = /snippet-embed/i;

/** What a slug leaves of a tag. */
export const slugOfEmbed: RegExp = /snippet-embed[\W_]*id[\W_]*\d/i;

/** The name in `<Snippet id={42} />` where it was not rendered, in any encoding of the `<`. */
export const writtenComponent: RegExp =
  /snippet(?<=(?:<|lt;|#0*60;?|x0*3c;?|u003c)snippet)(?=[\t\n\f\r ][^<>]{0,300}\b(?:id|of)=)/i;

/** Whether text may hold embeds, or what was meant as one. Many times faster than a scan. */
export const mayHold = (text: string): boolean => embedName.test(text) || writtenComponent.test(text);

/** What an embed shows of a snippet. */
export type EmbedAs = 'html' | 'text';

const attributeNames = ['id', 'params', 'as', 'optional'] as const;

export type EmbedAttributes = { [Name in (typeof attributeNames)[number]]?: string | undefined };

/** The attribute that a misspelled name means: at most two edits away, or one of a short name. */
export const intendedName = (written: string): 'id' | 'params' | 'as' | 'optional' | undefined =>
  attributeNames.find((name) => isNear(written, name, Math.min(2, name.length - 1)));

/** Whether so many added, removed or replaced characters turn one text into another. */
function isNear(one: string, other: string, edits: number): boolean {
  if (one === '' || other === '') return one.length + other.length <= edits;
  const [rest, otherRest] = [one.slice(1), other.slice(1)];
  if (one[0] === other[0]) return isNear(rest, otherRest, edits);
  const pairs = [[rest, other] as const, [one, otherRest] as const, [rest, otherRest] as const];
  return edits > 0 && pairs.some(([a, b]) => isNear(a, b, edits - 1));
}
