import ms, { type StringValue } from 'ms';

/** `1 page`, `2 pages`. */
export function count(number: number, one: string, other = `${one}s`): string {
  return `${number} ${number === 1 ? one : other}`;
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** `12ms`, `1.25s`, `3m`; or `3 minutes`. Minutes, hours and days are rounded up. */
export function formatDuration(milliseconds: number, display: 'narrow' | 'long' = 'narrow'): string {
  if (milliseconds < second) return inUnit(Math.round(milliseconds), 'millisecond', display);
  if (milliseconds < 2 * minute) return inUnit(milliseconds / second, 'second', display);
  // After rounding, so that two hours are never 120 minutes.
  const minutes = Math.ceil(milliseconds / minute);
  if (minutes < 120) return inUnit(minutes, 'minute', display);
  const hours = Math.ceil(milliseconds / hour);
  if (hours < 48) return inUnit(hours, 'hour', display);
  return inUnit(Math.ceil(milliseconds / day), 'day', display);
}

/** Parses `30s`, `1.5h` or `7 days`, as milliseconds. */
export function parseDuration(text: string): number | undefined {
  // The unit is required: without one, some would mean seconds and others milliseconds.
  if (text.length > 100 || !/^\d.*[a-z]$/i.test(text.trim())) return undefined;
  const milliseconds = ms(text.trim() as StringValue) as number | undefined;
  return Number.isFinite(milliseconds) ? milliseconds : undefined;
}

/** `512B`, `1.5kB`. */
export function formatBytes(bytes: number): string {
  return bytes < 1000 ? inUnit(bytes, 'byte', 'narrow') : inUnit(bytes / 1000, 'kilobyte', 'narrow');
}

function inUnit(value: number, unit: string, unitDisplay: 'narrow' | 'long'): string {
  const maximumFractionDigits = unit === 'kilobyte' ? 1 : 2;
  const options = { style: 'unit', unit, unitDisplay, maximumFractionDigits } as const;
  return new Intl.NumberFormat('en', options).format(value);
}
