import { elementName, mayContainEmbed } from './element.ts';
import type { FileKind } from './found-embed.ts';

/**
 * Matches where the tag of an embed begins, in any encoding. Its name may be cut, as some formats, such as
 * calendars, break long lines anywhere.
 */
export const foldedOpening: RegExp = new RegExp(
  `(?:<|lt;|#0*60;?|3c;?)${[...elementName].join('(?:=?\\r?\\n[ \\t]?)?')}`,
  'gi',
);

/**
 * Whether a file may contain embeds. Only in a file of an unknown kind may their names be cut.
 *
 * @param text the file, or a piece of it
 */
export const mayContainEmbedIn = (kind: FileKind, text: string): boolean =>
  mayContainEmbed(text) || (kind === 'other' && text.search(foldedOpening) !== -1);
