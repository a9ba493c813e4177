import { containsKnownKey } from '../client/known-keys.ts';
import { defaultLimits } from '../client/limits.ts';
import { SnippetError } from '../client/snippet-error.ts';
import { parseRequest, type SnippetRequest } from '../client/snippet-request.ts';
import { userError } from '../failures/user-error.ts';
import type { FetchedSnippet } from '../snippets/fetch-snippets.ts';

/** What a developer tries out for a snippet: another text, or what the service sends for other params. */
export type Tried =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'params'; readonly request: SnippetRequest };

/** What pages show of a snippet instead of the service's text, until it is taken back. */
export interface Trial extends Pick<FetchedSnippet, 'html' | 'text' | 'htmlElsewhere' | 'warnings'> {
  tried: Tried;
  /** Why what the service sent for other params may be outdated. */
  error?: Pick<Error, 'message'> | undefined;
}

/**
 * Reads what was typed, under the limits that a content of the service has.
 *
 * @param kind what was typed: a text, or params as JSON. Blank params are none.
 * @throws SnippetError `invalid-params` or `too-large`, or AstroError for a text that contains the API key.
 */
export function parseTried(id: number, kind: Tried['kind'], typed: string): Tried {
  if (kind === 'params') {
    return { kind, request: parseRequest(`${id}`, typed.trim() === '' ? undefined : typed) };
  }
  if (Buffer.byteLength(typed) > defaultLimits.bodyBytes) {
    throw new SnippetError('too-large', `The text is larger than ${defaultLimits.bodyBytes} bytes.`);
  }
  refuseKey(typed);
  return { kind, text: typed };
}

/** @throws AstroError. A page that contains the key is an error, from which the toolbar could not lead back. */
export function refuseKey(text: string): void {
  if (!containsKnownKey(text)) return;
  throw userError('published-key', 'The text contains the API key, so it is not shown.');
}
