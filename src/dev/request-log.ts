import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import { styleText } from 'node:util';
import type { AstroIntegrationLogger } from 'astro';

/** Matches the start of Astro's log line about a request: its HTTP status, such as `[200]`. */
const statusPattern = /^\S*\[\d{3}\]/;

/**
 * Delays Astro's log line about a request until the response is sent: Astro logs `[200]` for a page that may
 * then be replaced by an error page. The line says `[500]` in that case.
 *
 * @returns a scope to run the rest of each request in, which tells which request a log line is about
 */
export function holdRequestLog({ options }: AstroIntegrationLogger): AsyncLocalStorage<ServerResponse> {
  const requestScope = new AsyncLocalStorage<ServerResponse>();
  // Before Astro 7, the logger's option `destination` is called `dest`.
  const { dest, destination = dest } = options as object as Record<string, typeof options.destination>;
  if (!destination) return requestScope;

  const write = destination.write.bind(destination);
  destination.write = (event) => {
    const response = requestScope.getStore();
    if (!response || response.closed || !statusPattern.test(event.message)) return write(event);
    response.once('close', () => {
      if (response.statusCode !== 500) return write(event);
      write({ ...event, message: event.message.replace(statusPattern, styleText('red', '[500]')) });
    });
  };
  return requestScope;
}
