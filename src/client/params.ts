import { cleanText } from './clean-text.ts';
import { SnippetError } from './snippet-error.ts';

/** A value that JSON can hold. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** The variables passed to a snippet: one JSON object (specification, sections 4.1 and 4.2). */
export type Params = { readonly [key: string]: Json };

const deepest = 64;

/**
 * Writes params in their one canonical form: keys sorted, nothing added, nothing silently left out. Two params
 * that mean the same are the same text, so they are one request. No params, or none in the object: `undefined`.
 *
 * @throws SnippetError `invalid-params` for whatever JSON would drop, change or refuse, naming its path.
 */
export function canonicalParams(params: unknown): string | undefined {
  if (params === undefined) return undefined;
  if (!isPlainObject(params)) {
    throw new SnippetError('invalid-params', `params must be a plain object, not ${kindOf(params)}.`);
  }
  const copy = canonicalCopy(params, 'params', []);
  return Object.keys(copy as object).length === 0 ? undefined : JSON.stringify(copy);
}

/**
 * Reads params from the text of an attribute, into their canonical form.
 *
 * @throws SnippetError `invalid-params`
 */
export function parseParams(text: string): string | undefined {
  let params: unknown;
  try {
    params = JSON.parse(text);
  } catch (error) {
    throw new SnippetError('invalid-params', `params is not JSON: ${cleanText((error as Error).message)}`);
  }
  return canonicalParams(params ?? null);
}

function canonicalCopy(value: unknown, path: string, ancestors: readonly object[]): unknown {
  const refuse = (flaw: string) => new SnippetError('invalid-params', `${path} ${flaw}`);
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw refuse(`is ${value}, which JSON cannot hold.`);
      return value;
    case 'string':
      if (!value.isWellFormed()) throw refuse('holds half of a surrogate pair, which no request can carry.');
      return value;
    case 'object':
      break;
    default:
      throw refuse(`is ${kindOf(value)}, which JSON cannot hold.`);
  }
  if (value === null) return null;
  if (ancestors.includes(value)) throw refuse('refers back to an object that holds it.');
  if (ancestors.length >= deepest) throw refuse(`is nested more than ${deepest} levels deep.`);
  const line = [...ancestors, value];
  if (Array.isArray(value)) {
    // Array.from visits holes too, so that a hole is refused and not turned into null.
    return Array.from(value, (_, index) =>
      canonicalCopy(read(value, index, `${path}[${index}]`), `${path}[${index}]`, line),
    );
  }
  if (!isPlainObject(value)) throw refuse(`is ${kindOf(value)}: pass plain objects, arrays and values.`);
  // Without a prototype, so that a key named __proto__ is a key like any other.
  const copy: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(value).sort()) {
    if (!key.isWellFormed()) throw refuse('has a key that holds half of a surrogate pair.');
    const inner = `${path}${/^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${cleanText(JSON.stringify(key))}]`}`;
    copy[key] = canonicalCopy(read(value, key, inner), inner, line);
  }
  return copy;
}

/** Reads a property once, so that a getter cannot answer differently the second time. */
function read(holder: object, key: string | number, path: string): unknown {
  try {
    return (holder as Record<string | number, unknown>)[key];
  } catch {
    throw new SnippetError('invalid-params', `${path} cannot be read: its getter throws.`);
  }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if (Object.getOwnPropertySymbols(value).length > 0) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // An object of another realm (a vm context, as a test runner uses) has another Object.prototype.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'undefined';
  if (Array.isArray(value)) return 'an array';
  if (typeof value !== 'object') return `a ${typeof value}`;
  if (Object.getOwnPropertySymbols(value).length > 0) return 'an object with a symbol for a key';
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' ? `a ${cleanText(name)}` : 'an object of a class';
}
