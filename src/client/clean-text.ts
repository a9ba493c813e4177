const longest = 300;

// Controls (C0, DEL, C1), line and paragraph separators, and the characters that reorder or hide the text
// around them: any of these would let a service's text draw over, or pretend to be, what a terminal shows.
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu;

/**
 * Makes text from outside fit for a terminal, a log or an error: one line, no control characters, at most 300
 * characters. Cut first, because cleaning a megabyte is work that nobody reads.
 */
export function cleanText(text: string): string {
  const cut = text.length > longest * 4 ? text.slice(0, longest * 4) : text;
  const line = cut.replace(unprintable, ' ').replace(/\s+/g, ' ').trim();
  const characters = Array.from(line);
  return characters.length <= longest && cut.length === text.length
    ? line
    : `${characters.slice(0, longest - 1).join('')}…`;
}
