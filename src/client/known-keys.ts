import { type KeyCover, keyCover } from './api-key.ts';

// The component and the loader are part of the site's code and share no module with the integration, so what is known is
// kept by the process. Only functions are: a key itself stays in the module that was given it.
const hook = Symbol.for('astro-snippets:known-keys');
const known = globalThis as { [hook]?: KeyCover[] };
const keys = new Set<string>();

/** Keeps an API key out of everything that this process shows or sends as params, from now on. */
export function protectKey(key: string): void {
  if (keys.has(key)) return;
  keys.add(key);
  known[hook] = [...(known[hook] ?? []), keyCover(key)];
}

/** Whether a text contains an API key of this process. */
export function containsKnownKey(text: string): boolean {
  return known[hook]?.some((cover) => cover.isIn(text)) ?? false;
}

/** Replaces each API key of this process. The text has to be clean: an escape sequence may split a key. */
export function hideKnownKeys(text: string): string {
  return known[hook]?.reduce((hidden, cover) => cover.hide(hidden), text) ?? text;
}

/** Returns a text that was cut without the beginning of a key at its end. */
export function withoutCutKey(text: string): string {
  return known[hook]?.reduce((left, cover) => cover.withoutEnd(left), text) ?? text;
}
