import ms, { type StringValue } from 'ms';

/** `1 page`, `2 pages`. */
export const count = (number: number, one: string, other = `${one}s`) =>
  `${number} ${number === 1 ? one : other}`;

/** `12ms`, `1.25s`, `3m`; or `3 minutes`. Minutes, hours and days are rounded up. */
export function formatDuration(milliseconds: number, display?: 'long') {
  const show = (value: number, unit: string) => {
    // Loading Intl takes 10 ms.
    const shown = value < 1000 ? value : value.toLocaleString('en');
    if (display === 'long') return `${shown} ${unit}${value === 1 ? '' : 's'}`;
    return `${shown}${unit === 'millisecond' ? 'ms' : unit[0]}`;
  };
  if (milliseconds < 1000) return show(Math.round(milliseconds), 'millisecond');
  const seconds = milliseconds / 1000;
  if (seconds < 120) return show(Math.round(seconds * 100) / 100, 'second');
  // After rounding, so that two hours are never 120 minutes.
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 120) return show(minutes, 'minute');
  const hours = Math.ceil(minutes / 60);
  return hours < 48 ? show(hours, 'hour') : show(Math.ceil(hours / 24), 'day');
}

/** Parses `30s`, `1.5h` or `7 days`, as milliseconds. */
export function parseDuration(text: string) {
  // With a unit: without one, some mean seconds and others milliseconds.
  if (text.length > 100 || !/^\d.*[a-z]$/i.test(text.trim())) return undefined;
  const milliseconds = ms(text.trim() as StringValue);
  return Number.isFinite(milliseconds) ? milliseconds : undefined;
}

/** `512B`, `1.5kB`. */
export function formatBytes(bytes: number) {
  if (bytes < 1000) return `${bytes}B`;
  return `${(bytes / 1000).toLocaleString('en', { maximumFractionDigits: 1 })}kB`;
}

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
export function cleanText(text: string) {
  const cut = text.slice(0, maxRead);
  const plain = cut.replace(sequences, '').replace(unprintable, ' ').replace(/\s+/g, ' ').trim();
  const isCut = cut.length < text.length;
  const characters = Array.from(harmless(plain, isCut));
  if (characters.length <= maxLength && !isCut) return characters.join('');
  return `${characters.slice(0, maxLength - 1).join('')}…`;
}

/** The same for text of any length: tabs, line feeds and indentation stay. */
export const cleanLines = (text: string) =>
  harmless(text.replace(sequences, '').replace(unprintableInLines, ''));

export const reasonOf = (thrown: unknown) =>
  cleanText(String((thrown as Error | undefined)?.message ?? thrown));

/** Writes JSON whose strings are safe to show, and mean the same. */
export function cleanJson(value: unknown, indent = 2) {
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

const htmlNames: Record<string, string> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' };

/** Matches a character of a key: unless a letter or digit, also escaped for HTML, JSON or a URL. */
function characterPattern(character: string) {
  if (/[A-Za-z0-9]/.test(character)) return character;
  const code = character.charCodeAt(0);
  const hex = code.toString(16);
  const anyCase = hex.replace(/[a-f]/, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const html = [`#0*${code}`, `#[xX]0*${anyCase}`, htmlNames[character] ?? []].flat().join('|');
  return `(?:\\\\?\\x${hex}|&(?:${html});|(?:\\\\u00|%)${anyCase})`;
}

/** A key in hexadecimal, and in base64 at each offset that text before it causes. */
function encodedForms(key: string) {
  const bytes = Buffer.from(key);
  const base64 = [0, 1, 2].flatMap((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
    // The first and last characters also encode bits of their neighbours.
    const whole = [offset === 0 ? 0 : offset + 1, Math.floor((shifted.length * 8) / 6)] as const;
    const standard = shifted.toString('base64').slice(...whole);
    return [standard, encodeURIComponent(standard), shifted.toString('base64url').slice(...whole)];
  });
  const hex = bytes.toString('hex');
  return [...new Set([hex, hex.toUpperCase(), ...base64])];
}

type KeySearch = ReturnType<typeof keySearch>;

/** Finds an API key in every form that encoders give a whole key. */
export function keySearch(key: string) {
  const encoded = encodedForms(key);
  const written = [...key].map(characterPattern).join('\\s*');
  const forms = new RegExp([written, ...encoded.map((form) => form.replaceAll('+', '\\+'))].join('|'), 'g');
  const runs = key.match(/[A-Za-z0-9]+/g) ?? [''];
  const longestRun = runs.reduce((longest, run) => (run.length > longest.length ? run : longest));
  // Each form has one of these, found many times faster than a pattern.
  const signs = [longestRun, ...encoded].map((sign) => Buffer.from(sign));
  return {
    isIn(text: Buffer | string) {
      const bytes = typeof text === 'string' ? Buffer.from(text) : text;
      return signs.some((sign) => bytes.includes(sign)) && bytes.toString('latin1').search(forms) !== -1;
    },
    /** @param isCut whether the text was cut, and may end with the start of a key. */
    hide(text: string, isCut: boolean) {
      const hidden = text.replace(forms, '[API key]');
      for (let at = Math.max(0, hidden.length - 2 * key.length); isCut && at < hidden.length; at += 1) {
        if (key.startsWith(hidden.slice(at).replace(/\s/g, ''))) return hidden.slice(0, at);
      }
      return hidden;
    },
  };
}

// Kept by the process: components and loaders share no module with the integration. Searches only, no key.
const knownKeysSymbol = Symbol.for('astro-snippets:known-keys');
const keySearches = globalThis as { [knownKeysSymbol]?: KeySearch[] };
const protectedKeys = new Set<string>();

/** Keeps an API key out of all that this process shows, or sends as params. */
export function protectKey(key: string) {
  if (protectedKeys.has(key)) return;
  protectedKeys.add(key);
  keySearches[knownKeysSymbol] = [...(keySearches[knownKeysSymbol] ?? []), keySearch(key)];
}

export const containsKnownKey = (text: Buffer | string) =>
  keySearches[knownKeysSymbol]?.some((search) => search.isIn(text)) ?? false;

/** Hides the protected keys in clean text: an escape sequence may split a key. */
const hideKnownKeys = (text: string, isCut = false) =>
  keySearches[knownKeysSymbol]?.reduce((hidden, search) => search.hide(hidden, isCut), text) ?? text;
