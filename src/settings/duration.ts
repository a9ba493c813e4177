import ms, { type StringValue } from 'ms';

/** Parses a duration with its unit, such as `30s`, `1.5h` or `7 days`, as milliseconds. `undefined` if it is none. */
export function parseDuration(text: string): number | undefined {
  // The unit is required: without one, some would mean seconds and others milliseconds.
  if (text.length > 100 || !/^\d.*[a-z]$/i.test(text.trim())) return undefined;
  const milliseconds = ms(text.trim() as StringValue) as number | undefined;
  return Number.isFinite(milliseconds) ? milliseconds : undefined;
}

/**
 * Whether what was fetched at a moment is no older than `age`. A date in the future (a wrong clock) counts by its
 * distance. All are milliseconds.
 */
export function isYounger({ fetchedAt }: { fetchedAt: number }, age: number, now: number): boolean {
  return Math.abs(now - fetchedAt) <= age;
}
