import { quote } from '../text/clean-text.ts';
import { canonicalParams, kindOf, type Params, parseParams } from './params.ts';
import { SnippetError } from './snippet-error.ts';

/** A request for one snippet. Its id and params were checked when the request was made. */
export interface SnippetRequest {
  readonly id: number;
  /** Canonical JSON text; `undefined` without params. */
  readonly params: string | undefined;
  /** A text that two requests share only if their id and params are equal: a key for maps. */
  readonly key: string;
}

/**
 * Makes a request from values that code passes. An empty object counts as no params.
 *
 * @throws SnippetError `invalid-id`, or `invalid-params` with the path of a value that JSON would change.
 */
export const createRequest = (id: unknown, params?: unknown): SnippetRequest =>
  toRequest(parseSnippetId(id), canonicalParams(params));

/**
 * Makes a request from text, such as attributes of an embed or arguments of a command.
 *
 * @throws SnippetError `invalid-id`; `invalid-params`, also for numbers that JavaScript changes (`1e400`).
 */
export function parseRequest(id: string | undefined, params: string | undefined): SnippetRequest {
  const snippetId = parseSnippetId(id);
  return createRequest(snippetId, params === undefined ? undefined : parseParams(params));
}

/** Makes a request from an id and canonical params that were checked before. */
export const toRequest = (id: number, params: string | undefined): SnippetRequest => ({
  id,
  params,
  key: params ? `${id} ${params}` : `${id}`,
});

/** The params of a request as an object. */
export const paramsObject = ({ params }: SnippetRequest): Params | undefined => params && JSON.parse(params);

/**
 * Checks an id: a positive safe integer, or a string of its digits. An id such as ".." would change the URL.
 *
 * @throws SnippetError `invalid-id`
 */
export function parseSnippetId(value: unknown): number {
  const id = typeof value === 'string' && /^[1-9]\d{0,15}$/.test(value) ? Number(value) : value;
  if (typeof id === 'number' && Number.isSafeInteger(id) && id > 0) return id;

  if (value === undefined) throw new SnippetError('invalid-id', 'The snippet id is missing.');
  // No white space is taken off: an id that is written in two ways would be looked for in one of them.
  const hasSpace = typeof value === 'string' && value.trim() !== value;
  const expected = `a positive whole number${hasSpace ? ' without white space' : ''}`;
  throw new SnippetError('invalid-id', `A snippet id must be ${expected}, not ${describeValue(value)}.`);
}

function describeValue(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number' || typeof value === 'bigint') return `the ${typeof value} ${value}`;
  return kindOf(value);
}
