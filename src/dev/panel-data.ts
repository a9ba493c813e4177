import type { PanelSnippet, PanelUse } from '../build/edit-links/edit-links.ts';
import { cleanText } from '../client/clean-text.ts';
import { editUrlOf, type Settings } from '../settings/settings.ts';
import type { SnippetUse } from '../snippets/file-embeds.ts';
import type { RememberedSnippet } from './snippet-memory.ts';

/** A snippet on a page. */
export interface ShownOnPage {
  use: SnippetUse;
  snippet: RememberedSnippet;
}

/**
 * What the toolbar says of the snippets of a page, by their ids.
 *
 * @param warn called with what a build with `editLinks` fails for: a snippet without a link can still be worked on.
 */
export function panelSnippets(
  shown: readonly ShownOnPage[],
  editUrl: Settings['editUrl'],
  warn: (line: string) => void,
): Record<string, PanelSnippet> {
  const urlOf = (id: number) => {
    try {
      return editUrl && editUrlOf(id, editUrl);
    } catch (error) {
      warn(`The dev toolbar shows no link. ${(error as Error).message}`);
      return undefined;
    }
  };
  const byId = Map.groupBy(shown, ({ use }) => use.request.id);
  const described = [...byId].map(([id, requests]): [number, PanelSnippet] => {
    const [name] = requests.flatMap(({ snippet }) => snippet.content?.name ?? []);
    return [id, { url: urlOf(id), name: name && cleanText(name), uses: requests.map(describeUse) }];
  });
  return Object.fromEntries(described);
}

function describeUse({ use, snippet }: ShownOnPage): PanelUse {
  const { content, checkedAt, error } = snippet;
  const { params } = use.request;
  const facts = [
    params,
    content?.variant,
    // That the cache has kept has taken no time.
    content && content.milliseconds > 0 && `${Math.round(content.milliseconds)} ms`,
    content && `${Buffer.byteLength(content.content)} bytes`,
    // The time of day, as Astro's own log has it.
    checkedAt && `fetched at ${new Date(checkedAt).toLocaleTimeString('en-GB')}`,
  ];
  const escaped = params && ` params='${params.replaceAll('&', '&amp;').replaceAll("'", '&#39;')}'`;
  return {
    facts: facts.filter(Boolean).join(' · '),
    error: error?.message,
    attributes: `${escaped ?? ''}${use.optionalPlaces?.size ? ' optional' : ''}`,
  };
}
