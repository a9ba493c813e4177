import type { SnippetRequest } from '../client/snippet-request.ts';
import type { PlacedRequest } from '../failures/places.ts';

/** A request, and everything on the site that needs it. */
export interface SnippetUse extends PlacedRequest {
  asHtml: boolean;
}

/** By the keys of their requests. */
export type SnippetUses = Map<string, SnippetUse>;

/** Notes that the place with this name needs a snippet. */
export function addUse(
  uses: SnippetUses,
  request: SnippetRequest,
  name: string,
  {
    hasChildren = false,
    isOptional = false,
    asHtml = true,
  }: {
    hasChildren?: boolean | undefined;
    isOptional?: boolean | undefined;
    asHtml?: boolean | undefined;
  } = {},
): SnippetUse {
  const known = uses.get(request.key);
  const use = known ?? { request, places: [], placesWithoutChildren: [], asHtml: false };
  if (!known) uses.set(request.key, use);
  const { places, placesWithoutChildren } = use;
  // The places of one file come one after the other.
  if (!isOptional) use.optionalPlaces?.delete(name);
  else if (places.at(-1) !== name) use.optionalPlaces = (use.optionalPlaces ?? new Set()).add(name);
  if (places.at(-1) !== name) places.push(name);
  if (!hasChildren && placesWithoutChildren.at(-1) !== name) placesWithoutChildren.push(name);
  use.asHtml ||= asHtml;
  return use;
}
