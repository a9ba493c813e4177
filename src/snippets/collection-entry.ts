/** An entry of a collection that shows a snippet. */
export interface CollectionEntry {
  collection: string;
  entry: string;
}

/** How people know an entry of a collection. */
export function entryName({ collection, entry }: CollectionEntry): string {
  return `${collection} (collection), entry "${entry}"`;
}
