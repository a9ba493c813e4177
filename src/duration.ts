import ms, { type StringValue } from 'ms';

/** Reads a length of time with its unit, such as `30s`, `1.5h` or `7 days`, as milliseconds; nothing where it is none. */
export function parseDuration(text: string): number | undefined {
  // Without a unit it could be seconds to one and milliseconds to another.
  if (text.length > 100 || !/^\d.*[a-z]$/i.test(text.trim())) return undefined;
  const milliseconds = ms(text.trim() as StringValue) as number | undefined;
  return Number.isFinite(milliseconds) ? milliseconds : undefined;
}
