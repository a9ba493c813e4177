import type { PanelUse } from '../inlining/edit-links/edit-links.ts';
import { editUrlOf } from '../settings/edit-url.ts';
import type { Settings } from '../settings/settings.ts';
import type { SnippetUse } from '../snippets/snippet-use.ts';
import type { RememberedSnippet } from './snippet-memory.ts';

/** A request for a snippet on a page, with the snippet that the page shows. */
export interface ShownUse extends SnippetUse {
  snippet: RememberedSnippet;
}

/** The URL at which a snippet is edited. Where a build would fail, as `editUrl` does, this only warns. */
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

/** Describes a request for a snippet in the panel of the dev toolbar. */
export function describeUse({ request: { params }, optionalPlaces, snippet }: ShownUse): PanelUse {
  const { content, checkedAt, error } = snippet;
  const facts = [
    params,
    content?.variant,
    // An answer from the cache has 0 milliseconds, which would say nothing.
    content && content.milliseconds > 0 && `${Math.round(content.milliseconds)} ms`,
    content && `${Buffer.byteLength(content.content)} bytes`,
    // Astro's log shows the time of day in this way, too.
    checkedAt && `fetched at ${new Date(checkedAt).toLocaleTimeString('en-GB')}`,
  ];
  const escapedParams = params?.replaceAll('&', '&amp;').replaceAll("'", '&#39;');
  const paramsAttribute = escapedParams ? ` params='${escapedParams}'` : '';
  return {
    facts: facts.filter(Boolean).join(' · '),
    error: error?.message,
    attributes: `${paramsAttribute}${optionalPlaces?.size ? ' optional' : ''}`,
  };
}
