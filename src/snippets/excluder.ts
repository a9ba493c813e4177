import picomatch from 'picomatch';

/**
 * Returns a function that tells whether a file is excluded, so that its embeds are examples.
 *
 * @param patterns glob patterns for paths in the output folder.
 */
export function excluder(patterns: readonly string[]): (name: string) => boolean {
  return patterns.length === 0 ? () => false : picomatch([...patterns]);
}
