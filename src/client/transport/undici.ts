import { subscribe } from 'node:diagnostics_channel';
import type { Http2Session, Http2Stream } from 'node:http2';
import { createRequire } from 'node:module';

export const userAgent = 'astro-snippets';

/** The name of the global in which the `fetch` of Node 22 and 24 finds its dispatcher. */
const builtInDispatcher = Symbol.for('undici.globalDispatcher.1');

let undici: typeof import('undici') | undefined;

/**
 * Loads undici with the first request, since loading takes time.
 *
 * On Node 22 and 24, undici makes itself the dispatcher of the built-in `fetch`, which other code uses:
 * `fetch` gets its own dispatcher back at once. On Node 26, undici leaves `fetch` alone if `fetch` is
 * initialized, so it is initialized before.
 */
export function loadUndici(): typeof import('undici') {
  if (undici) return undici;

  // Reading the global `Response` initializes the built-in fetch.
  if (Number.parseInt(process.versions.node, 10) >= 26) void globalThis.Response;
  const globals = globalThis as { [builtInDispatcher]?: unknown };
  const previousDispatcher = globals[builtInDispatcher];

  undici = createRequire(import.meta.url)('undici') as typeof import('undici');
  ignoreErrorsOfLateAnswers();

  if (globals[builtInDispatcher] !== previousDispatcher) globals[builtInDispatcher] = previousDispatcher;
  return undici;
}

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
    if (headers['user-agent'] === userAgent) ourSessions.add(session);
    else if (ourSessions.has(session)) stream.on('error', () => {});
  });
}
