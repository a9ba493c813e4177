import type { PanelSnippet, PanelUse } from '../build/edit-links/edit-links.ts';
import { cleanText } from '../client/clean-text.ts';
import { editUrlOf, type Settings } from '../settings/settings.ts';
import type { Shown, ShownOnPage } from './served-pages.ts';

/** Says where a snippet is edited. */
export type EditUrlOf = (id: number) => string | undefined;

/**
 * A snippet without a link can still be worked on, so what a build with `editLinks` fails for is a warning.
 *
 * @param warn called once for each snippet with what goes wrong.
 */
export function editUrls(settings: () => Pick<Settings, 'editUrl'>, warn: (line: string) => void): EditUrlOf {
  const withoutLink = new Set<number>();
  return (id) => {
    const { editUrl } = settings();
    try {
      return editUrl && editUrlOf(id, editUrl);
    } catch (error) {
      if (!withoutLink.has(id)) warn(`The dev toolbar shows no link. ${(error as Error).message}`);
      withoutLink.add(id);
      return undefined;
    }
  };
}

/** What the toolbar says of the snippets of a page, by their ids: each of their requests. */
export function panelSnippets(shown: Shown, editUrl: EditUrlOf): Record<string, PanelSnippet> {
  const snippets: Record<string, PanelSnippet> = {};
  for (const one of shown.values()) {
    const { request, content } = one.snippet;
    const name = content?.name && cleanText(content.name);
    const known = snippets[request.id];
    const uses = [...(known?.uses ?? []), describeUse(one)];
    snippets[request.id] = { url: known?.url ?? editUrl(request.id), name: known?.name ?? name, uses };
  }
  return snippets;
}

function describeUse({ snippet, isOptional }: ShownOnPage): PanelUse {
  const { request, content, milliseconds, checkedAt, error } = snippet;
  const { params } = request;
  const facts = [
    params,
    content?.variant,
    milliseconds === undefined ? undefined : `${Math.round(milliseconds)} ms`,
    content && `${Buffer.byteLength(content.content)} bytes`,
    // The time of day, as Astro's own log has it.
    checkedAt === undefined ? undefined : `fetched at ${new Date(checkedAt).toLocaleTimeString('en-GB')}`,
  ];
  return {
    facts: facts.filter((fact) => fact !== undefined).join(' · '),
    error: error?.message,
    params,
    optional: isOptional,
  };
}
