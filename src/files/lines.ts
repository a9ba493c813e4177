/** Tells the lines of bytes, from 1. Reads the file when first asked. */
export function lineFinder(file: Buffer) {
  let ends: number[] | undefined;
  return (offset: number): number => {
    ends ??= [...file.toString('latin1').matchAll(/\n|$/g)].map(({ index }) => index);
    return ends.findIndex((end) => end >= offset) + 1;
  };
}
