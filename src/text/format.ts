import ms, { type StringValue } from 'ms';

/** Formats a number with its noun: `1 page`, `2 pages`. */
export const count = (number: number, singular: string, plural = `${singular}s`): string =>
  `${number} ${number === 1 ? singular : plural}`;

/** Formats a duration: `12ms`, `1.25s`, `3m`; or `3 minutes` with `long`. Minutes and more are rounded up. */
export function formatDuration(milliseconds: number, display?: 'long'): string {
  if (milliseconds < 1000) return formatUnit(Math.round(milliseconds), 'millisecond', display);

  const seconds = milliseconds / 1000;
  if (seconds < 120) return formatUnit(Math.round(seconds * 100) / 100, 'second', display);

  // Hours and days are computed from rounded minutes, so that two hours never show as 120 minutes.
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 120) return formatUnit(minutes, 'minute', display);

  const hours = Math.ceil(minutes / 60);
  return hours < 48 ? formatUnit(hours, 'hour', display) : formatUnit(Math.ceil(hours / 24), 'day', display);
}

function formatUnit(value: number, unit: string, display: 'long' | undefined) {
  // `toLocaleString` is avoided for small numbers, as it loads Intl, which takes 10 ms.
  const number = value < 1000 ? value : value.toLocaleString('en');
  if (display === 'long') return `${number} ${unit}${value === 1 ? '' : 's'}`;
  return `${number}${unit === 'millisecond' ? 'ms' : unit[0]}`;
}

/** Parses a duration, such as `30s`, `1.5h` or `7 days`, as milliseconds; `undefined` if it is malformed. */
export function parseDuration(text: string): number | undefined {
  // A unit is required: without a unit, some people mean seconds and others milliseconds.
  if (text.length > 100 || !/^\d.*[a-z]$/i.test(text.trim())) return undefined;
  const milliseconds = ms(text.trim() as StringValue);
  return Number.isFinite(milliseconds) ? milliseconds : undefined;
}

/** Formats a size: `512B`, `1.5kB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes}B`;
  return `${(bytes / 1000).toLocaleString('en', { maximumFractionDigits: 1 })}kB`;
}
