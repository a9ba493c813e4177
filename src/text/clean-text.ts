import { hideKnownKeys } from './known-keys.ts';

/** The longest text that `cleanText` returns, in characters. */
const maxLength = 300;
/** The most characters that `cleanText` reads: more than it returns, since escape sequences are removed. */
const maxInputLength = maxLength * 4;

// Terminal escape sequences: CSI, OSC and other strings, and two characters. No match goes past the next
// escape, so the time is linear. Node's `stripVTControlCharacters` is not used: it takes quadratic time.
const escapeSequences =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences consist of them.
  /(?:\x1b\[|\x9b(?=[0-?]))[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]/g;

/** Control characters, line separators, and characters that reorder or hide text. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu;
/** The same characters as `unprintable`, except tab and line feed. */
const unprintableInLines = /[^\P{Cc}\t\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Finds `##[group]` and `##vso[…]`, which CI runners execute as commands, anywhere in a line. */
const runnerCommand = /##(?=\w*\[)/g;

/**
 * Makes text from outside safe for a terminal, a log or an error: one line of at most 300 characters, without
 * control characters, API keys and commands of CI runners.
 */
export function cleanText(text: string): string {
  const input = text.slice(0, maxInputLength);
  const isCut = input.length < text.length;
  const line = input.replace(escapeSequences, '').replace(unprintable, ' ').replace(/\s+/g, ' ').trim();

  const characters = [...withoutKeysAndCommands(line, isCut)];
  if (characters.length <= maxLength && !isCut) return characters.join('');
  return `${characters.slice(0, maxLength - 1).join('')}…`;
}

/** Makes text of any length safe, as `cleanText` does, and keeps tabs, line feeds and indentation. */
export const cleanLines = (text: string): string =>
  withoutKeysAndCommands(text.replace(escapeSequences, '').replace(unprintableInLines, ''));

/** Returns the message of an error as clean text, or any other thrown value, which may be `undefined`. */
export const reasonOf = (thrown: unknown): string =>
  cleanText(String((thrown as Error | undefined)?.message ?? thrown));

/** Writes JSON whose strings are safe to show and keep their meaning: characters are escaped, not removed. */
export const cleanJson = (value: unknown, indent = 2): string =>
  JSON.stringify(value, hideKeysInValue, indent)
    .replace(unprintableInLines, escapeCharacter)
    .replace(runnerCommand, '#\\u0023');

/**
 * Quotes text from outside in a message about what is wrong with it. Unlike `cleanText`, this shows white space around
 * the text, and escapes what no one could see: no-break spaces, and characters without a width.
 */
export function quote(text: string): string {
  const isCut = text.length > maxLength;
  const shown = hideKnownKeys(text.slice(0, maxLength), isCut);
  return cleanJson(isCut ? `${shown}…` : shown).replace(/(?! )\p{Z}/gu, escapeCharacter);
}

const escapeCharacter = (character: string) =>
  character.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/**
 * Hides API keys in text without escape sequences, and puts a space into commands of CI runners, so that they
 * are not executed: `::` at the start of a line, `##[` and `##name[` anywhere.
 */
function withoutKeysAndCommands(text: string, isCut = false) {
  return hideKnownKeys(text, isCut)
    .replace(/^([^\S\n]*:):/gm, '$1 :')
    .replace(runnerCommand, '# #');
}

/** A replacer for `JSON.stringify` that hides API keys in strings and in names of properties. */
function hideKeysInValue(_name: string, value: unknown) {
  if (typeof value === 'string') return hideKnownKeys(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [hideKnownKeys(name), inner]));
}
