import { type Stats, statSync } from 'node:fs';

// File systems keep times by a coarser clock than `Date.now()`.
const clockGranularity = 50;

/**
 * Whether a file was written since a moment, or just before it. `false` if there is no such file.
 *
 * @param since in milliseconds since the epoch.
 */
export function isWrittenSince(file: string, since: number): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  return found !== undefined && isSince(found, since);
}

/** The same for a file that was looked at. */
export function isSince({ ctimeMs }: Stats, since: number): boolean {
  // Not the time of its content, which a copy takes over from the original.
  return ctimeMs >= since - clockGranularity;
}
