import { subscribe } from 'node:diagnostics_channel';
import type { Http2Session, Http2Stream } from 'node:http2';
import { createRequire } from 'node:module';

// Where the `fetch` of Node 22 and 24 looks up its dispatcher.
const builtInDispatcher = Symbol.for('undici.globalDispatcher.1');

let undici: typeof import('undici') | undefined;

export const userAgent = 'astro-snippets';

/**
 * Node makes a new HTTP/2 stream of a late answer to an aborted request. If the connection ends while Vite blocks the event
 * loop, its error would end the process.
 */
function ignoreErrorsOfLateAnswers() {
  const sessions = new WeakSet<Http2Session>();
  subscribe('http2.client.stream.created', (message) => {
    const { stream, headers } = message as { stream: Http2Stream; headers: Record<string, unknown> };
    const { session } = stream;
    if (!session) return;
    if (headers['user-agent'] === userAgent) sessions.add(session);
    else if (sessions.has(session)) stream.on('error', () => {});
  });
}

/**
 * Takes time. undici makes itself the dispatcher of the built-in `fetch`, which other code uses and which gets its own back.
 * In Node 26, undici leaves an initialized `fetch` alone.
 */
export function loadUndici(): typeof import('undici') {
  if (undici) return undici;
  if (Number.parseInt(process.versions.node, 10) >= 26) void globalThis.Response;
  const globals = globalThis as { [builtInDispatcher]?: unknown };
  const before = globals[builtInDispatcher];
  undici = createRequire(import.meta.url)('undici') as typeof import('undici');
  ignoreErrorsOfLateAnswers();
  if (globals[builtInDispatcher] !== before) globals[builtInDispatcher] = before;
  return undici;
}
