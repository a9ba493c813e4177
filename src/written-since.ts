import { statSync } from 'node:fs';

// File systems keep times by a coarser clock than `Date.now()`.
const clockGranularity = 50;

/**
 * Whether a file was written since a moment, or just before it. `false` if there is no such file.
 *
 * @param since in milliseconds since the epoch.
 */
export function isWrittenSince(file: string, since: number): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  // Not the time of its content, which a copy takes over from the original.
  return found !== undefined && found.ctimeMs >= since - clockGranularity;
}
