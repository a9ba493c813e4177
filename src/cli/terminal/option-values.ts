import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../../text/format.ts';
import type { ListenAddress } from '../webhook-server.ts';

/** Parses the time between two checks. @returns milliseconds */
export function parseInterval(text: string): number {
  const milliseconds = parseDuration(text) ?? 0;
  if (milliseconds >= 1_000) return milliseconds;
  throw new InvalidArgumentError('Expected a duration of at least 1s, such as 30s or 5m.');
}

/**
 * Parses a host and a port. A host that a URL would write in another way is refused: `127.1` is an IP address
 * in a URL, and would be looked up as a name here.
 */
export function parseListen(text: string): ListenAddress {
  const [, host = '', port] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  const { hostname } = URL.parse(`http://${text}`) ?? {};
  if (hostname === host.toLowerCase()) {
    return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
  }
  throw new InvalidArgumentError('Expected a host and a port, such as 127.0.0.1:8787 or [::1]:8787.');
}

/** Refuses an empty command, which would succeed. The shell passes one if a variable in it is not set. */
export function parseCommand(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('Expected a command.');
  return text;
}
