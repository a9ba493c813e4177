/** The name of the global in which the `fetch` of Node 22 and 24 finds its dispatcher. */
const builtInDispatcher = Symbol.for('undici.globalDispatcher.1');

const globals = globalThis as { [builtInDispatcher]?: unknown };
let previousDispatcher: unknown;

/**
 * Notes the dispatcher of the built-in `fetch`, which other code uses, before undici is loaded.
 *
 * On Node 22 and 24, undici makes itself that dispatcher: {@link restoreFetch} undoes it. On Node 26, undici leaves
 * `fetch` alone if `fetch` is initialized, so it is initialized here.
 */
export function rememberFetch(): void {
  // Reading the global `Response` initializes the built-in fetch.
  if (Number.parseInt(process.versions.node, 10) >= 26) void globalThis.Response;
  previousDispatcher = globals[builtInDispatcher];
}

/** Gives `fetch` its dispatcher back. Called in the turn in which undici is loaded, so no request notices. */
export function restoreFetch(): void {
  if (globals[builtInDispatcher] !== previousDispatcher) globals[builtInDispatcher] = previousDispatcher;
}
