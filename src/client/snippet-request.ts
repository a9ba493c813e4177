import type { z } from 'zod';
import type { Problem } from './answer.ts';
import { cleanLines, cleanText, containsKnownKey, protectKey, reasonOf } from './text.ts';

/** The service's variants (specification, section 4): `render` is variant B, `retrieve` is variant A. */
export type Variant = 'retrieve' | 'render';

/** One snippet with its params, checked where they enter. */
export interface SnippetRequest {
  readonly id: number;
  /** Canonical JSON text; `undefined` without params. */
  readonly params: string | undefined;
  readonly key: string;
}

/** A value that JSON can hold. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** The variables passed to a snippet: one JSON object (specification, sections 4.1 and 4.2). */
export type Params = { readonly [key: string]: Json };

const maxDepth = 64;
const tooDeep = `is nested more than ${maxDepth} levels deep.`;

/**
 * Makes a request of what code passes. An empty object counts as no params.
 *
 * @throws SnippetError `invalid-id`, or `invalid-params` for what JSON would drop, change or reject, with its path.
 */
export const createRequest = (id: unknown, params?: unknown) =>
  toRequest(parseSnippetId(id), canonicalParams(params));

/** The same for text. Numbers that JavaScript would change, such as `1e400`, are refused. */
export function parseRequest(id: string | undefined, params: string | undefined) {
  const snippetId = parseSnippetId(id);
  if (params === undefined) return createRequest(snippetId);
  // First: an error of JSON.parse may quote half a key.
  refuseKey(params);
  try {
    return createRequest(snippetId, JSON.parse(params, keepInexact));
  } catch (error) {
    if (error instanceof SnippetError) throw error;
    const flaw = error instanceof RangeError ? tooDeep : `is not JSON: ${reasonOf(error)}`;
    throw invalidParams(`params ${flaw}`);
  }
}

export const invalidParams = (reason: string, snippetId?: number) =>
  new SnippetError('invalid-params', reason, { snippetId });

/** A schema of zod, or of any library that implements Standard Schema. */
export type ParamsSchema = Pick<z.core.$ZodType, '~standard'>;

/** A snippet with a name in code, and the params it takes. */
export interface SnippetDefinition<Schema extends ParamsSchema | undefined = ParamsSchema | undefined> {
  readonly id: number;
  readonly params: Schema;
}

/** `undefined` if the snippet takes none. */
export type ParamsOf<Schema extends ParamsSchema | undefined> = Schema extends ParamsSchema
  ? NonNullable<Schema['~standard']['types']>['input']
  : undefined;

/**
 * Gives a snippet a name in code, and its params a type that the editor, `astro check` and the build check.
 *
 * @throws SnippetError `invalid-id`
 *
 * @example
 * export const pricing = defineSnippet({ id: 42, params: z.object({ plan: z.enum(['free', 'pro']) }) });
 * // <Snippet of={pricing} params={{ plan: 'pro' }} />
 */
export function defineSnippet<Schema extends ParamsSchema | undefined = undefined>(definition: {
  id: number;
  params?: Schema;
}): SnippetDefinition<Schema> {
  return { id: parseSnippetId(definition.id), params: definition.params as Schema };
}

/** @throws SnippetError `invalid-params`, with all issues that the schema finds. */
export async function definedRequest({ id, params: schema }: SnippetDefinition, params: unknown) {
  if (!schema) {
    if (params === undefined) return createRequest(id);
    throw invalidParams('it is defined without params.', id);
  }
  const result = await schema['~standard'].validate(params);
  if (!result.issues) return createRequest(id, result.value);
  const flaws = result.issues.map(({ path = [], message }) => {
    const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
    return `${['params', ...keys].join('.')}: ${cleanText(message)}`;
  });
  throw invalidParams(flaws.join('; '), id);
}

/** Of an id and params checked before. */
export const toRequest = (id: number, params: string | undefined): SnippetRequest => ({
  id,
  params,
  key: params ? `${id} ${params}` : `${id}`,
});

export const paramsObject = ({ params }: SnippetRequest): Params | undefined => params && JSON.parse(params);

/** A positive safe integer or its digits: anything else could leave the URL's path. */
export function parseSnippetId(value: unknown) {
  const id = typeof value === 'string' && /^[1-9]\d{0,15}$/.test(value) ? Number(value) : value;
  if (typeof id === 'number' && Number.isSafeInteger(id) && id > 0) return id;
  if (value === undefined) throw new SnippetError('invalid-id', 'The snippet id is missing.');
  throw new SnippetError('invalid-id', `A snippet id must be a positive whole number, not ${shown(value)}.`);
}

function shown(value: unknown) {
  if (typeof value === 'string') return `"${cleanText(value)}"`;
  if (typeof value === 'number' || typeof value === 'bigint') return `the ${typeof value} ${value}`;
  return kindOf(value);
}

/** With sorted keys. An API key is refused: pages, the manifest and the service's log would show it. */
function canonicalParams(params: unknown) {
  if (params === undefined) return undefined;
  if (!isPlainObject(params)) throw invalidParams(`params must be a plain object, not ${kindOf(params)}.`);
  const text = JSON.stringify(canonicalCopy(params, 'params', []));
  refuseKey(text);
  return text === '{}' ? undefined : text;
}

function refuseKey(params: string) {
  if (!containsKnownKey(params)) return;
  throw invalidParams('params contains the API key. Its value is not shown on purpose.');
}

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
  const copyOf = (inner: unknown, name: string) => canonicalCopy(inner, name, [...ancestors, value]);
  if (Array.isArray(value)) {
    // Array.from visits holes, which JSON would turn into null.
    return Array.from(value, (inner, index) => copyOf(inner, `${path}[${index}]`));
  }
  if (!isPlainObject(value)) throw invalid(`is ${kindOf(value)}: pass plain objects, arrays and values.`);
  // Without a prototype: __proto__ is a key like any other.
  const copy: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(value).sort()) {
    if (!key.isWellFormed()) throw invalid('has a key that contains half of a surrogate pair.');
    copy[key] = copyOf(value[key], pathTo(path, key));
  }
  return copy;
}

const pathTo = (holder: string, key: string) =>
  /^[A-Za-z_$][\w$]*$/.test(key) ? `${holder}.${key}` : `${holder}[${cleanText(JSON.stringify(key))}]`;

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if (Object.getOwnPropertySymbols(value).length > 0) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Another realm, such as a test runner's, has another Object.prototype.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function kindOf(value: unknown) {
  if (value === null) return 'null';
  if (value === undefined) return 'undefined';
  if (Array.isArray(value)) return 'an array';
  if (typeof value !== 'object') return `a ${typeof value}`;
  if (Object.getOwnPropertySymbols(value).length > 0) return 'an object with a symbol as a key';
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' ? `a ${cleanText(name)}` : 'a class instance';
}

/** A number as it is written, which `JSON.parse` would change. */
class InexactNumber extends String {}

function keepInexact(_key: string, value: unknown, { source = '' }: { source?: string } = {}) {
  if (typeof value !== 'number') return value;
  const isExact = Number.isFinite(value) && significantDigits(String(value)) === significantDigits(source);
  return isExact ? value : new InexactNumber(source);
}

/** Enough to compare: `JSON.parse` keeps the magnitude. */
function significantDigits(number: string) {
  const digits = number.replace(/e.*$/i, '').replace(/[-.]/g, '');
  return /^0*(.*[1-9])?/.exec(digits)?.[1] ?? '';
}

/** With its path prefix (specification, section 1), without a trailing slash. */
export type BaseUrl = ReturnType<typeof parseBaseUrl>;

/** @throws SnippetError `invalid-options`, with a message that begins with `name`. */
export function parseBaseUrl(name: string, value: unknown) {
  const invalid = (flaw: string) => new SnippetError('invalid-options', `${name} ${flaw}`);
  if (typeof value !== 'string') throw invalid('must be a string.');
  const url = URL.parse(value);
  if (!url) throw invalid('must be an absolute URL, such as "https://snippets.example.com/v1".');
  // First, and without the URL: what precedes the @ may be a secret.
  if (url.username || url.password) {
    throw invalid('must not contain a user name or password. The API key is sent separately.');
  }
  if (url.protocol !== 'https:') {
    const scheme = cleanText(url.protocol);
    throw invalid(`must start with "https:", not "${scheme}". The service accepts HTTPS requests only.`);
  }
  if (/[?#]/.test(value)) throw invalid('must not contain a query or a fragment.');
  return { href: url.href.replace(/\/+$/, ''), origin: url.origin };
}

/** Specification, sections 4.1 and 4.2. */
export function snippetUrl({ href }: BaseUrl, variant: Variant, { id, params }: SnippetRequest) {
  const path = `${href}/snippets/${id}${variant === 'render' ? '/render' : ''}`;
  return params ? `${path}?params=${encodeURIComponent(params)}` : path;
}

/** Before the key gets into a header: an HTTP library quotes one that it rejects. From then on, it is protected. */
export function checkApiKey(key: unknown, name = 'The API key') {
  const invalid = (flaw: string) =>
    new SnippetError('invalid-options', `${name} ${flaw}. Its value is not shown on purpose.`);
  if (typeof key !== 'string') throw invalid('is not a string');
  if (key === '') throw invalid('is empty');
  if (key.trim() !== key) throw invalid('has white space or a line break at its start or end');
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw invalid('contains a space, a control character or a non-ASCII character');
  }
  // A shorter one may be in any page by chance.
  if (key.length < 8) throw invalid('has fewer than 8 characters');
  protectKey(key);
  return key;
}

/** Why no snippet can be fetched. */
export type EndingCode =
  | 'unauthorized' // 401: no valid API key was provided.
  | 'payment-required'; // 402: the trial or subscription has expired.

/** Why a snippet could not be fetched. The codes are permanent. */
export type SnippetErrorCode =
  // Sent by the service (specification, section 7).
  | EndingCode
  | 'forbidden' // 403: the key lacks permission.
  | 'not-found' // 404 with a problem object.
  | 'no-route' // 404, 405, 410 or 501 without a problem object: the URL is not the service's.
  | 'rate-limited' // 429, or a `Retry-After` longer than the client waits.
  | 'server-error' // 500, 502, 503 or 504, even after the last attempt.
  | 'unexpected-status' // Any other status.
  | 'redirect' // Redirects are never followed.
  | 'bad-answer' // A 200 that is cut off, or does not match the specification.
  | 'no-content' // Variant A answered without `content`.
  // The service was not reached.
  | 'network' // The connection failed.
  | 'timeout' // It took too long.
  | 'certificate' // It could not be trusted.
  | 'too-large' // The answer is longer than the client accepts.
  | 'unavailable' // So many attempts failed that the client stopped asking.
  // No request was made.
  | 'invalid-id'
  | 'invalid-params'
  | 'invalid-options' // An argument is invalid, or a proxy in the environment cannot be used.
  | 'unsupported-node' // Older than `engines` in package.json allows.
  | 'aborted' // The caller's signal was aborted.
  | 'closed'; // The client was closed.

interface SnippetErrorFields
  extends Partial<Pick<SnippetError, 'snippetId' | 'variant' | 'attempts' | 'status'>> {
  problem?: Problem | undefined;
  cause?: unknown;
}

/**
 * Thrown for every failure of the client, with the service's problem object (`title`, `detail` and `type`; specification,
 * section 2). Never contains the API key, or an error of the HTTP library.
 */
export class SnippetError extends Error {
  override readonly name = 'SnippetError';
  readonly code: SnippetErrorCode;
  /** The message without the snippet. */
  readonly reason: string;
  readonly snippetId: number | undefined;
  readonly variant: Variant | undefined;
  /** Requests made for this snippet. */
  readonly attempts: number;
  /** The status of the answer, not of the problem. */
  readonly status: number | undefined;
  readonly title: string | undefined;
  readonly detail: string | undefined;
  readonly type: string | undefined;

  constructor(code: SnippetErrorCode, reason: string, fields: SnippetErrorFields = {}) {
    const { snippetId, variant, attempts = 0, status, problem, cause } = fields;
    const clean = cleanLines(reason);
    const task = variant && ` could not be ${variant === 'render' ? 'rendered' : 'retrieved'}`;
    const message = snippetId === undefined ? clean : `Snippet ${snippetId}${task ?? ''}: ${clean}`;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.reason = clean;
    this.snippetId = snippetId;
    this.variant = variant;
    this.attempts = attempts;
    this.status = status;
    this.title = problem?.title;
    this.detail = problem?.detail;
    this.type = problem?.type;
  }
}
