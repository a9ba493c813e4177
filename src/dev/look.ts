import { SnippetError } from '../client/snippet-error.ts';
import { effectOf, isMissing, type SnippetFailure } from '../failures/errors.ts';
import { type RememberedSnippet, shownContent } from './snippet-memory.ts';

/** What a page shows of a snippet, as text that is equal if a reader sees no difference. */
export type Look = string;

/** When a page shows children instead of a snippet. */
export interface ShowsChildren {
  /** Whether each of its embeds has children, for when the service is down. */
  hasChildren: boolean;
  /** Whether each of its embeds is optional. */
  isOptional: boolean;
}

export function lookOf(snippet: RememberedSnippet, { hasChildren, isOptional }: ShowsChildren): Look {
  const content = shownContent(snippet);
  if (content !== undefined) return JSON.stringify([content.html, content.text]);
  const { error } = snippet;
  if (error === undefined) return '';
  const showsChildren = isMissing(error) ? isOptional : hasChildren && effectOf(error) === 'children';
  return showsChildren ? 'children' : failureLook(error);
}

/** What distinguishes one failure from another. Its sentence does not, since it counts attempts and seconds. */
export function failureLook(error: SnippetFailure): Look {
  return error instanceof SnippetError
    ? JSON.stringify([error.code, error.status, error.title, error.detail, error.type])
    : JSON.stringify([error.code, error.reason]);
}
