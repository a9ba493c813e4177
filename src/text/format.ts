import ms, { type StringValue } from 'ms';

/** `1 page`, `2 pages`. */
export const count = (number: number, one: string, other = `${one}s`) =>
  `${number} ${number === 1 ? one : other}`;

/** `12ms`, `1.25s`, `3m`; or `3 minutes`. Minutes, hours and days are rounded up. */
export function formatDuration(milliseconds: number, display?: 'long'): string {
  const show = (value: number, unit: string) => {
    // Loading Intl takes 10 ms.
    const shown = value < 1000 ? value : value.toLocaleString('en');
    if (display === 'long') return `${shown} ${unit}${value === 1 ? '' : 's'}`;
    return `${shown}${unit === 'millisecond' ? 'ms' : unit[0]}`;
  };
  if (milliseconds < 1000) return show(Math.round(milliseconds), 'millisecond');
  const seconds = milliseconds / 1000;
  if (seconds < 120) return show(Math.round(seconds * 100) / 100, 'second');
  // After rounding, so that two hours are never 120 minutes.
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 120) return show(minutes, 'minute');
  const hours = Math.ceil(minutes / 60);
  return hours < 48 ? show(hours, 'hour') : show(Math.ceil(hours / 24), 'day');
}

/** Parses `30s`, `1.5h` or `7 days`, as milliseconds. */
export function parseDuration(text: string): number | undefined {
  // With a unit: without one, some mean seconds and others milliseconds.
  if (text.length > 100 || !/^\d.*[a-z]$/i.test(text.trim())) return undefined;
  const milliseconds = ms(text.trim() as StringValue);
  return Number.isFinite(milliseconds) ? milliseconds : undefined;
}

/** `512B`, `1.5kB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes}B`;
  return `${(bytes / 1000).toLocaleString('en', { maximumFractionDigits: 1 })}kB`;
}
