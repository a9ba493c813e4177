import { hideKnownKeys } from './known-keys.ts';

const maxLength = 300;

// More, since escape sequences in between are removed.
const maxRead = maxLength * 4;

// CSI, OSC and other strings, and sequences of two characters. None matches past the next escape: Node's
// `stripVTControlCharacters` takes quadratic time.
const sequences =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences consist of them.
  /(?:\x1b\[|\x9b(?=[0-?]))[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]/g;

// Controls, line separators, and characters that reorder or hide text.
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu;

// The same without tab and line feed.
const unprintableInLines = /[^\P{Cc}\t\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * Makes text from outside safe for a terminal, log or error: a line of at most 300 characters, without control characters,
 * API keys and commands of CI runners.
 */
export function cleanText(text: string): string {
  const cut = text.slice(0, maxRead);
  const plain = cut.replace(sequences, '').replace(unprintable, ' ').replace(/\s+/g, ' ').trim();
  const isCut = cut.length < text.length;
  const characters = Array.from(harmless(plain, isCut));
  if (characters.length <= maxLength && !isCut) return characters.join('');
  return `${characters.slice(0, maxLength - 1).join('')}…`;
}

/** The same for text of any length: tabs, line feeds and indentation stay. */
export const cleanLines = (text: string): string =>
  harmless(text.replace(sequences, '').replace(unprintableInLines, ''));

export const reasonOf = (thrown: unknown): string =>
  cleanText(String((thrown as Error | undefined)?.message ?? thrown));

/** Writes JSON whose strings are safe to show, and mean the same. */
export function cleanJson(value: unknown, indent = 2): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, redacted, indent)
    .replace(unprintableInLines, (character) => character.replace(/./gs, escaped))
    .replace(/##(?=\w*\[)/g, '#\\u0023');
}

/**
 * Hides keys in clean text, and puts a space into commands of CI runners: `::` at the start of a line, `##[` and `##name[`
 * anywhere.
 */
const harmless = (plain: string, isCut = false) =>
  hideKnownKeys(plain, isCut)
    .replace(/^([^\S\n]*:):/gm, '$1 :')
    .replace(/##(?=\w*\[)/g, '# #');

function redacted(_name: string, value: unknown) {
  if (typeof value === 'string') return hideKnownKeys(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [hideKnownKeys(name), inner]));
}
