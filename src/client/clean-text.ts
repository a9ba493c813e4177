import { stripVTControlCharacters } from 'node:util';

const longest = 300;

// Controls (C0, DEL, C1), line and paragraph separators, and the characters that reorder or hide the text
// around them: any of these would let a service's text draw over, or pretend to be, what a terminal shows.
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu;

/**
 * Makes text from outside fit for a terminal, a log or an error: one line, no control characters, at most 300
 * characters. Cut before it is cleaned: to clean a megabyte is work for nothing, and on some versions of Node
 * it takes minutes.
 */
export function cleanText(text: string): string {
  const cut = text.slice(0, longest * 4);
  const line = stripVTControlCharacters(cut).replace(unprintable, ' ').replace(/\s+/g, ' ').trim();
  const characters = Array.from(line);
  if (characters.length <= longest && cut.length === text.length) return line;
  return `${characters.slice(0, longest - 1).join('')}…`;
}
