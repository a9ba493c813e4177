import { cleanText, reasonOf } from '../text/clean-text.ts';
import {
  canonicalParams,
  invalidParams,
  keepInexact,
  kindOf,
  type Params,
  refuseKey,
  tooDeep,
} from './params.ts';
import { SnippetError } from './snippet-error.ts';

/** One snippet with its params, checked where they enter. */
export interface SnippetRequest {
  readonly id: number;
  /** Canonical JSON text; `undefined` without params. */
  readonly params: string | undefined;
  readonly key: string;
}

/**
 * Makes a request of what code passes. An empty object counts as no params.
 *
 * @throws SnippetError `invalid-id`, or `invalid-params` for what JSON would drop, change or reject, with its path.
 */
export const createRequest = (id: unknown, params?: unknown): SnippetRequest =>
  toRequest(parseSnippetId(id), canonicalParams(params));

/** The same for text. Numbers that JavaScript would change, such as `1e400`, are refused. */
export function parseRequest(id: string | undefined, params: string | undefined): SnippetRequest {
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

/** Of an id and params checked before. */
export const toRequest = (id: number, params: string | undefined): SnippetRequest => ({
  id,
  params,
  key: params ? `${id} ${params}` : `${id}`,
});

export const paramsObject = ({ params }: SnippetRequest): Params | undefined => params && JSON.parse(params);

/** A positive safe integer or its digits: anything else could leave the URL's path. */
export function parseSnippetId(value: unknown): number {
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
