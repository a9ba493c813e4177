import type { SnippetRequest } from '../client/snippet-request.ts';
import { cleanText } from '../text/clean-text.ts';
import { count } from '../text/format.ts';

/** A request, and the places that need its snippet: names of files, and of entries of collections. */
export interface PlacedRequest {
  request: SnippetRequest;
  /** All files and collection entries with an embed of the snippet, each once. */
  places: string[];
  /** The places with an embed that has no children to show if the snippet fails. */
  placesWithoutChildren: string[];
  /** The places at which every embed of the snippet is optional: it may be missing there. */
  optionalPlaces?: Set<string>;
}

/** An entry of a content collection that shows a snippet. */
export interface CollectionEntry {
  collection: string;
  /** The id of the entry. */
  entry: string;
}

/** The name of a collection entry in messages that list where a snippet is needed. */
export const entryName = ({ collection, entry }: CollectionEntry): string =>
  `${collection} (collection), entry "${entry}"`;

/** Lists the first few places, and says how many more there are. */
export function listPlaces(places: readonly string[], maxPlaces = 3): string {
  const listed = places.slice(0, maxPlaces).join(', ');
  const more = places.length - maxPlaces;
  return more > 0 ? `${listed} and ${count(more, 'more place')}` : listed;
}

/** Lists the first few names, without control characters, and says how many more there are. */
export function listNames(names: readonly string[], maxNames = 10): string {
  const listed = names.slice(0, maxNames).map(cleanText).join(', ');
  const more = names.length - maxNames;
  return more > 0 ? `${listed} and ${more} more` : listed;
}
