import { createRequire } from 'node:module';

// Where the built-in fetch of Node 22 and 24 looks for what carries its requests.
const builtInDispatcher = Symbol.for('undici.globalDispatcher.1');

let loaded: typeof import('undici') | undefined;

/**
 * Loads undici when the first request is made, and not before: that takes time.
 *
 * undici makes itself what the process's built-in `fetch` goes through, if nothing has been before it. So that other
 * code's requests go where they always went, the built-in one is woken first, and gets back what was taken from it. All
 * in one turn: nobody sees the moment between. (What undici keeps for itself, under the symbol of its own version, stays:
 * others who share this copy of it need that.)
 */
export function loadUndici(): typeof import('undici') {
  if (loaded !== undefined) return loaded;
  void globalThis.Response;
  const globals = globalThis as { [builtInDispatcher]?: unknown };
  const before = globals[builtInDispatcher];
  loaded = createRequire(import.meta.url)('undici') as typeof import('undici');
  if (globals[builtInDispatcher] !== before) globals[builtInDispatcher] = before;
  return loaded;
}
