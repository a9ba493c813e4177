/**
 * Finds the name that a misspelled one was meant to be, for "Did you mean …?". Upper case, dashes and underscores do
 * not count, and neither does what surrounds the letters: `render-base-url` is `renderBaseUrl`.
 *
 * @param names where two are equally near, the first is taken.
 * @returns `undefined` if no name is near enough.
 */
export function intendedName<Name extends string>(written: string, names: readonly Name[]): Name | undefined {
  const letters = lettersAndDigits(written);
  let nearest: Name | undefined;
  let fewestEdits = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const own = lettersAndDigits(name);
    const maxEdits = own.length > shortNameLength ? 2 : 1;
    // A name of another length is too far away. Skipping it keeps a very long one from taking long.
    if (Math.abs(letters.length - own.length) > maxEdits) continue;
    const edits = countEdits(letters, own);
    if (edits > maxEdits || edits >= fewestEdits) continue;
    nearest = name;
    fewestEdits = edits;
  }
  return nearest;
}

/** The question for whoever has misspelled a name; empty if nothing is near. */
export function didYouMean(written: string, names: readonly string[]): string {
  const intended = intendedName(written, names);
  return intended === undefined ? '' : `Did you mean \`${intended}\`?`;
}

/** The length, in letters, up to which a name may have one mistake. With two, `ca` or `csp` would be near to anything short. */
const shortNameLength = 5;

const lettersAndDigits = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** How many characters have to be added, removed, replaced, or swapped with the next to turn one text into the other. */
function countEdits(from: string, to: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforePrevious[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[to.length] ?? 0;
}
