import { SnippetError } from '../client/snippet-error.ts';
import { effectOf, type SnippetFailure } from '../failures/errors.ts';
import type { RememberedSnippet } from './snippet-memory.ts';

/** What a page shows of a snippet, as text that is equal if a reader sees no difference. */
export type Look = string;

/** @param hasChildren whether the page can show children instead. */
export function lookOf({ html, text, error }: RememberedSnippet, hasChildren: boolean): Look {
  if (html !== undefined) return JSON.stringify([html, text]);
  if (error === undefined) return '';
  return hasChildren && effectOf(error) === 'children' ? 'children' : failureLook(error);
}

/** What distinguishes one failure from another. Its sentence does not, since it counts attempts and seconds. */
export function failureLook(error: SnippetFailure): Look {
  return error instanceof SnippetError
    ? JSON.stringify([error.code, error.status, error.title, error.detail, error.type])
    : JSON.stringify([error.code, error.reason]);
}
