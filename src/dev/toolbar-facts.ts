import { type AdvisedSettings, hintOf } from '../failures/hints.ts';
import type { DevFacts, PanelSource, PanelUse } from '../inlining/edit-links/edit-links.ts';
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

/** Finds where the sources of a page write an embed, as `SourceSearch` does. */
interface PositionSearch {
  positionsOf(id: number, page: string): readonly PanelSource[];
}

/** What the panel of the dev toolbar shows of the snippets of a page. @param page the path of its URL */
export const devFacts = (
  search: PositionSearch,
  page: string,
  settings: AdvisedSettings,
): DevFacts<ShownUse> => ({
  describeUse: (use) => describeUse(use, settings),
  sourcesOf: (id) => search.positionsOf(id, page),
});

function describeUse(
  { request: { params }, optionalPlaces, snippet }: ShownUse,
  settings: AdvisedSettings,
): PanelUse {
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
    hint: error && hintOf(error.code, settings),
    attributes: `${paramsAttribute}${optionalPlaces?.size ? ' optional' : ''}`,
  };
}
