import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import { styleText } from 'node:util';
import type { AstroIntegrationLogger } from 'astro';

/** How Astro's line about a request begins: with its status. */
const statusPattern = /^\S*\[\d{3}\]/;

/**
 * Holds back Astro's line about a request until the response is sent. Astro logs `[200]` when it has rendered
 * a page, which may then turn out as an error page with status 500.
 *
 * @returns a scope in which to run the rest of each request, so that its lines are known to be about it
 */
export function holdRequestLog({ options }: AstroIntegrationLogger): AsyncLocalStorage<ServerResponse> {
  const requestScope = new AsyncLocalStorage<ServerResponse>();
  // Before Astro 7, the option is called `dest`.
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
