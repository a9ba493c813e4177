/**
 * Finds the line of a byte in a file.
 *
 * @returns a function from an offset to a line, counted from 1. Its first call searches all line breaks.
 */
export function lineFinder(file: Buffer): (offset: number) => number {
  let lineEnds: number[] | undefined;
  return (offset) => {
    lineEnds ??= [...file.toString('latin1').matchAll(/\n|$/g)].map(({ index }) => index);
    return lineEnds.findIndex((end) => end >= offset) + 1;
  };
}
