const seconds = /^[0-9]{1,15}$/;
// The one date form a server may send (RFC 9110, section 5.6.7). Date.parse would also read "1" and "-5".
const httpDate =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/;

/**
 * Reads a `Retry-After` (RFC 9110, section 10.2.3) as milliseconds from `now`. Nothing where there is none or
 * it makes no sense (negative, a fraction, garbage); 0 for a date that has passed.
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  const value = header?.trim() ?? '';
  if (seconds.test(value)) return Number(value) * 1000;
  if (!httpDate.test(value)) return undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
