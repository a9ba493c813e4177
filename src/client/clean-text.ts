import { stripVTControlCharacters } from 'node:util';

const maxLength = 300;

// Controls (C0, DEL, C1), line and paragraph separators, and characters that reorder or hide the text around them.
// With any of these, a service's text could draw over or imitate what a terminal shows.
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu;

/**
 * Makes text from outside safe for a terminal, a log or an error: one line, no control characters, at most 300
 * characters. The text is cut before it is cleaned, because cleaning a megabyte takes minutes on some versions of Node.
 */
export function cleanText(text: string): string {
  const cut = text.slice(0, maxLength * 4);
  const line = stripVTControlCharacters(cut).replace(unprintable, ' ').replace(/\s+/g, ' ').trim();
  const characters = Array.from(line);
  if (characters.length <= maxLength && cut.length === text.length) return line;
  return `${characters.slice(0, maxLength - 1).join('')}…`;
}
