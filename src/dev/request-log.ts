import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { styleText } from 'node:util';
import type { AstroIntegrationLogger } from 'astro';

/** Holds back Astro's line about a request until its status is known. */
export function holdRequestLog({
  options,
}: AstroIntegrationLogger): AsyncLocalStorage<ServerResponse<IncomingMessage>> {
  const responses = new AsyncLocalStorage<ServerResponse>();
  // Before Astro 7, it is `dest`.
  const { dest, destination = dest } = options as object as Record<string, typeof options.destination>;
  if (!destination) return responses;
  const write = destination.write.bind(destination);
  destination.write = (event) => {
    const response = responses.getStore();
    const status = /^\S*\[\d{3}\]/;
    if (!response || response.closed || !status.test(event.message)) return write(event);
    response.once('close', () => {
      const { message } = event;
      const sent = styleText('red', '[500]');
      write({ ...event, message: response.statusCode === 500 ? message.replace(status, sent) : message });
    });
  };
  return responses;
}
