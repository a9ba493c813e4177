import { editUrlOf } from '../settings/edit-url.ts';
import type { Settings } from '../settings/settings.ts';
import type { SnippetUse } from '../snippets/snippet-use.ts';
import type { RememberedSnippet } from './snippet-memory.ts';

export type ShownUse = SnippetUse & { snippet: RememberedSnippet };

/** Warns where a build with `editLinks` fails. */
export function linkOf(
  id: number,
  editUrl: Settings['editUrl'],
  warn: (line: string) => void,
): string | undefined {
  try {
    return editUrl && editUrlOf(id, editUrl);
  } catch (error) {
    warn(`The dev toolbar shows no link. ${(error as Error).message}`);
    return undefined;
  }
}

export function describeUse({ request: { params }, optionalPlaces, snippet }: ShownUse): {
  facts: string;
  error: string | undefined;
  attributes: string;
} {
  const { content, checkedAt, error } = snippet;
  const facts = [
    params,
    content?.variant,
    // From the cache, it took no time.
    content && content.milliseconds > 0 && `${Math.round(content.milliseconds)} ms`,
    content && `${Buffer.byteLength(content.content)} bytes`,
    // The time of day, as in Astro's log.
    checkedAt && `fetched at ${new Date(checkedAt).toLocaleTimeString('en-GB')}`,
  ];
  const escaped = params && ` params='${params.replaceAll('&', '&amp;').replaceAll("'", '&#39;')}'`;
  return {
    facts: facts.filter(Boolean).join(' · '),
    error: error?.message,
    attributes: `${escaped ?? ''}${optionalPlaces?.size ? ' optional' : ''}`,
  };
}
