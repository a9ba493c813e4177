import { cleanText, quote, reasonOf } from '../text/clean-text.ts';
import { containsKnownKey } from '../text/known-keys.ts';
import { SnippetError } from './snippet-error.ts';

/** A value that JSON can hold. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** The variables passed to a snippet: one JSON object (specification, sections 4.1 and 4.2). */
export type Params = { readonly [key: string]: Json };

const maxDepth = 64;
const tooDeep = `is nested more than ${maxDepth} levels deep.`;

export const invalidParams = (reason: string, snippetId?: number): SnippetError =>
  new SnippetError('invalid-params', reason, { snippetId });

/**
 * Turns params into canonical JSON text, with sorted keys: equal params give equal text. Throws for values
 * that JSON would drop or change, and for an API key, which pages and the service's log would show.
 *
 * @returns `undefined` for `undefined` and for an empty object: both mean "no params".
 * @throws SnippetError `invalid-params`, with the path of the value, such as `params.plan[2]`.
 */
export function canonicalParams(params: unknown): string | undefined {
  if (params === undefined) return undefined;
  if (!isPlainObject(params)) throw invalidParams(`params must be a plain object, not ${kindOf(params)}.`);
  const text = JSON.stringify(canonicalCopy(params, 'params', []));
  refuseKey(text);
  return text === '{}' ? undefined : text;
}

/**
 * Parses params that are written as JSON. Numbers that JavaScript would change are kept as written, so that
 * {@link canonicalParams} refuses them by name.
 *
 * @throws SnippetError `invalid-params`
 */
export function parseParams(text: string): unknown {
  // Looks for the API key before parsing: an error of JSON.parse may quote half of the key.
  refuseKey(text);
  try {
    return JSON.parse(text, keepInexact);
  } catch (error) {
    const flaw = error instanceof RangeError ? tooDeep : `is not JSON: ${reasonOf(error)}`;
    throw invalidParams(`params ${flaw}`);
  }
}

function refuseKey(params: string) {
  if (!containsKnownKey(params)) return;
  throw invalidParams('params contains the API key. Its value is not shown on purpose.');
}

/** Copies a value with the keys of its objects sorted. The `ancestors` are what contains it. */
function canonicalCopy(value: unknown, path: string, ancestors: readonly object[]): unknown {
  const invalid = (flaw: string) => invalidParams(`${path} ${flaw}`);

  if (value === null || typeof value === 'boolean' || Number.isFinite(value)) return value;
  if (typeof value === 'string') {
    if (value.isWellFormed()) return value;
    throw invalid('contains half of a surrogate pair, which cannot be sent.');
  }
  if (typeof value !== 'object') {
    const kind = typeof value === 'number' ? value : kindOf(value);
    throw invalid(`is ${kind}, which JSON cannot represent.`);
  }
  if (value instanceof InexactNumber) {
    const number = cleanText(`${value}`);
    throw invalid(`is the number ${number}, which JavaScript cannot represent: write it as a string.`);
  }
  if (ancestors.includes(value)) throw invalid('is a circular reference.');
  if (ancestors.length >= maxDepth) throw invalid(tooDeep);

  const copyOf = (inner: unknown, innerPath: string) =>
    canonicalCopy(inner, innerPath, [...ancestors, value]);
  if (Array.isArray(value)) {
    // Array.from visits holes, which JSON would turn into null.
    return Array.from(value, (inner, index) => copyOf(inner, `${path}[${index}]`));
  }
  if (!isPlainObject(value)) throw invalid(`is ${kindOf(value)}: pass plain objects, arrays and values.`);

  // An object without a prototype takes `__proto__` as a key like any other.
  const copy: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(value).sort()) {
    if (!key.isWellFormed()) throw invalid('has a key that contains half of a surrogate pair.');
    copy[key] = copyOf(value[key], pathTo(path, key));
  }
  return copy;
}

const pathTo = (holder: string, key: string) =>
  /^[A-Za-z_$][\w$]*$/.test(key) ? `${holder}.${key}` : `${holder}[${quote(key)}]`;

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if (Object.getOwnPropertySymbols(value).length > 0) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // An object of another realm, such as a test runner's, has another Object.prototype. That has no prototype, either.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Names the kind of a value in a message, such as "an array" or "a Date". */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'undefined';
  if (Array.isArray(value)) return 'an array';
  if (typeof value !== 'object') return `a ${typeof value}`;
  if (Object.getOwnPropertySymbols(value).length > 0) return 'an object with a symbol as a key';
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' ? `a ${cleanText(name)}` : 'a class instance';
}

/** The text of a JSON number that JavaScript cannot represent exactly. */
class InexactNumber extends String {}

/** A reviver that keeps the text of numbers that `JSON.parse` would round, such as 9007199254740993. */
function keepInexact(_key: string, value: unknown, { source = '' }: { source?: string } = {}): unknown {
  if (typeof value !== 'number') return value;
  const isExact = Number.isFinite(value) && significantDigits(String(value)) === significantDigits(source);
  return isExact ? value : new InexactNumber(source);
}

/** The digits of a number without its magnitude: only digits can differ after `JSON.parse`, which rounds. */
function significantDigits(number: string): string {
  const digits = number.replace(/e.*$/i, '').replace(/[-.]/g, '');
  return /^0*(.*[1-9])?/.exec(digits)?.[1] ?? '';
}
