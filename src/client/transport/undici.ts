import { subscribe } from 'node:diagnostics_channel';
import type { Http2Session, Http2Stream } from 'node:http2';
import undici from 'undici';
import { restoreFetch } from './built-in-fetch.ts';
import { requestHeaders } from './exchange.ts';

restoreFetch();
ignoreErrorsOfLateAnswers();

/** undici as it is loaded with the first request: it takes time, and `rememberFetch` has to be called before. */
export { undici };

/**
 * Keeps the process alive when a connection ends. Node makes a new HTTP/2 stream for an answer to a request
 * that was aborted, and nothing listens to the errors of that stream. One is emitted if the connection ends
 * before the event loop turns, as after Vite has blocked it for seconds: undici closes idle connections.
 */
function ignoreErrorsOfLateAnswers() {
  const ourSessions = new WeakSet<Http2Session>();
  subscribe('http2.client.stream.created', (message) => {
    const { stream, headers } = message as { stream: Http2Stream; headers: Record<string, unknown> };
    const { session } = stream;
    if (!session) return;

    // Streams of our requests have our user agent; a stream that Node makes for a late answer has not.
    if (headers['user-agent'] === requestHeaders['user-agent']) ourSessions.add(session);
    else if (ourSessions.has(session)) stream.on('error', () => {});
  });
}
