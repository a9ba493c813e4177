import type { SnippetRequest } from '../client/snippet-request.ts';
import { cleanText } from '../text/clean-text.ts';
import { count } from '../text/format.ts';
import type { ErrorCode } from './error-table.ts';

export interface PlacedRequest {
  request: SnippetRequest;
  /** Names of files and of entries of collections, each once. */
  places: string[];
  placesWithoutChildren: string[];
  /** Where each of its embeds is optional. */
  optionalPlaces?: Set<string>;
}

export interface CollectionEntry {
  collection: string;
  entry: string;
}

export const entryName = ({ collection, entry }: CollectionEntry) =>
  `${collection} (collection), entry "${entry}"`;

/** What a build says about an embed without failing. */
export interface EmbedNote {
  message: string;
  /** As it is written. */
  id?: string | undefined;
  file?: string | undefined;
  line?: number;
  code?: ErrorCode | undefined;
  /** Text that only looks like an embed. */
  isDoubtful?: boolean;
}

/** Where an embed, or a snippet on any page, is written. */
export type PlaceOf = (sought: Omit<EmbedNote, 'message'>) => string;

export type InvalidEmbed = EmbedNote & { file: string; code: ErrorCode };

export function describeNote(note: EmbedNote, placeOf?: PlaceOf): string {
  const place = placeOf?.(note);
  return place ? `${note.message} It is ${place}.` : note.message;
}

/** The first few, cleaned, and how many more there are. */
export function listNames(names: readonly string[], most = 10): string {
  const shown = names.slice(0, most).map(cleanText).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

export function listPlaces(places: readonly string[], most = 3): string {
  const shown = places.slice(0, most).join(', ');
  const more = places.length - most;
  return more > 0 ? `${shown} and ${count(more, 'more place')}` : shown;
}
