/** How much a {@link BoundedMap} holds. */
interface Bounds {
  /** The most values. */
  count: number;
  /** The most that all values take together, in the unit of their sizes. */
  size: number;
}

/** Values by keys, up to a number and a size. Those that were used least recently make room for a new one. */
export class BoundedMap<Value> {
  readonly #bounds: Bounds;
  /** The values, the one that was used last at the end. */
  readonly #entries = new Map<string, { value: Value; size: number }>();
  #size = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  keys(): Iterable<string> {
    return this.#entries.keys();
  }

  /** Gets a value, which counts as a use of it. */
  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Keeps a value, unless it is too large to be kept at all. */
  set(key: string, value: Value, size: number): void {
    this.delete(key);
    if (size > this.#bounds.size) return;
    this.#entries.set(key, { value, size });
    this.#size += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#bounds.count && this.#size <= this.#bounds.size) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#size -= this.#entries.get(key)?.size ?? 0;
    this.#entries.delete(key);
  }
}
