import { type Form, formKey } from '../embed/found.ts';

/** What places that are alike have in common. Recorded once, however many places there are. */
export interface Kind {
  /** The index of the snippet in the manifest. */
  snippet: number;
  /** How the content is written. */
  form: Form;
  /** The hash of the content; absent where the children are shown. */
  content?: string | undefined;
  /** What an optional embed shows where the snippet does not exist, as Latin-1; absent of any other. */
  children?: string | undefined;
  /** How many bytes it occupies. */
  length: number;
}

/** A place in a file that shows a snippet. */
export interface Place extends Omit<Kind, 'length'> {
  /** The bytes of the file that the content occupies. */
  start: number;
  end: number;
}

/**
 * The places of a file, in its order, as pairs of numbers: the index of the kind, and how many bytes are between the
 * last place, or the start of the file, and this one.
 */
export type PackedPlaces = readonly number[];

/** Packs the places of files, and collects their kinds. */
export class PlacePacker {
  readonly kinds: Kind[];
  readonly #indexes: Map<string, number>;

  /** @param known kinds that keep their indexes. */
  constructor(known: readonly Kind[] = []) {
    this.kinds = [...known];
    this.#indexes = new Map(known.map((kind, index) => [keyOf(kind), index]));
  }

  /** @param places in the order of the file. */
  pack(places: readonly Place[]): number[] {
    const packed: number[] = [];
    let last = 0;
    for (const { start, end, ...place } of places) {
      packed.push(this.index({ ...place, length: end - start }), start - last);
      last = end;
    }
    return packed;
  }

  /** The index of a kind, which is added if it is new. */
  index(kind: Kind): number {
    const key = keyOf(kind);
    let index = this.#indexes.get(key);
    if (index === undefined) {
      index = this.kinds.push(kind) - 1;
      this.#indexes.set(key, index);
    }
    return index;
  }
}

function keyOf({ snippet, length, content = '', form, children }: Kind): string {
  const shown = children === undefined ? '' : JSON.stringify(children);
  return `${snippet} ${length} ${content} ${shown} ${formKey(form)}`;
}

/** The places of a file, with their bytes. */
export function unpackPlaces(kinds: readonly Kind[], packed: PackedPlaces): Place[] {
  const places: Place[] = [];
  let last = 0;
  for (let at = 0; at < packed.length; at += 2) {
    const kind = kinds[packed[at] ?? -1];
    if (kind === undefined) throw new RangeError(`There is no kind of place ${packed[at]}.`);
    const { length, ...place } = kind;
    const start = last + (packed[at + 1] ?? 0);
    last = start + length;
    places.push({ ...place, start, end: last });
  }
  return places;
}

/** The kind of each place of a file. */
export function kindsOf(kinds: readonly Kind[], packed: PackedPlaces): Kind[] {
  const found: Kind[] = [];
  for (let at = 0; at < packed.length; at += 2) {
    const kind = kinds[packed[at] ?? -1];
    if (kind !== undefined) found.push(kind);
  }
  return found;
}

/** Leaves out kinds of which no place is left. */
export function dropUnusedKinds<File extends { places: PackedPlaces }>(
  kinds: readonly Kind[],
  files: readonly File[],
): { kinds: Kind[]; files: File[] } {
  const used: Kind[] = [];
  const moved = new Map<number, number>();
  const move = (from: number): number => {
    const kind = kinds[from];
    const to = moved.get(from) ?? (kind === undefined ? -1 : used.push(kind) - 1);
    moved.set(from, to);
    return to;
  };
  const repacked = files.map((file) => ({
    ...file,
    places: file.places.map((value, at) => (at % 2 === 0 ? move(value) : value)),
  }));
  return { kinds: used, files: repacked };
}

/** Whether a value from outside is a list of places with kinds that exist. */
export function arePackedPlaces(value: unknown, kinds: number): value is number[] {
  if (!Array.isArray(value) || value.length % 2 !== 0) return false;
  for (let at = 0; at < value.length; at += 2) {
    if (!isIndex(value[at]) || value[at] >= kinds || !isIndex(value[at + 1])) return false;
  }
  return true;
}

/** Whether a value from outside can count or index something. */
export function isIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
