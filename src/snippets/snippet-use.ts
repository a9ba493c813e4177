import type { SnippetRequest } from '../client/snippet-request.ts';
import type { SnippetDisplay } from '../content/prepare-snippet.ts';
import type { PlacedRequest } from '../failures/places.ts';

/** Returns a string that is the same for displays to which the same rules apply. */
export const displayKey = ({ asHtml, asUrl, inTemplate }: SnippetDisplay): string =>
  [asHtml && 'html', asUrl && 'url', inTemplate && 'template'].filter(Boolean).join(' ');

/** A snippet, and the files and collection entries (its places) that need it. */
export interface SnippetUse extends PlacedRequest, SnippetDisplay {}

/** The snippets that a site needs, by the keys of their requests. */
export type SnippetUses = Map<string, SnippetUse>;

interface UseOptions {
  /** Whether the embed has children to show when the service is down. @default false */
  hasChildren?: boolean | undefined;
  /** Whether the embed is optional, so that its snippet need not exist. @default false */
  isOptional?: boolean | undefined;
  /** Whether the place displays the snippet as HTML, and not as text. @default true */
  asHtml?: boolean | undefined;
  /** Whether the place displays the snippet as a whole URL. @default false */
  asUrl?: boolean | undefined;
  /** Whether the place is in a script with a template. @default false */
  inTemplate?: boolean | undefined;
}

/**
 * Notes that a place needs a snippet. Finish one place before the next: only the last one is compared.
 *
 * @param place the name of a file, or of an entry of a collection
 * @returns the use that the place was added to
 */
export function addUse(
  uses: SnippetUses,
  request: SnippetRequest,
  place: string,
  { hasChildren = false, isOptional = false, asHtml = true, asUrl, inTemplate }: UseOptions = {},
): SnippetUse {
  let use = uses.get(request.key);
  if (!use) {
    use = { request, places: [], placesWithoutChildren: [], asHtml: false };
    uses.set(request.key, use);
  }

  const { places, placesWithoutChildren } = use;
  const isNewPlace = places.at(-1) !== place;
  // A place is optional only if each of its embeds of this snippet is.
  if (!isOptional) use.optionalPlaces?.delete(place);
  else if (isNewPlace) use.optionalPlaces = (use.optionalPlaces ?? new Set()).add(place);
  if (isNewPlace) places.push(place);
  if (!hasChildren && placesWithoutChildren.at(-1) !== place) placesWithoutChildren.push(place);
  use.asHtml ||= asHtml;
  if (asUrl) use.asUrl = true;
  if (inTemplate) use.inTemplate = true;
  return use;
}
