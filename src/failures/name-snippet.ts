import { cleanText } from '../text/clean-text.ts';

/** A request for a snippet, with the name of the snippet where that is known. */
export interface NamedRequest {
  id: number;
  /** The params as JSON text. */
  params?: string | undefined;
  /** The name that people gave the snippet, as the service sent it. */
  name?: string | undefined;
}

const maxParamsLength = 80;
const maxNameLength = 60;

/** The name that people gave a snippet, as it is shown; empty if it says no more than the id, as "Snippet 42" does. */
export function shownName(id: number, name = ''): string {
  const clean = shorten(cleanText(name), maxNameLength);
  return clean === `Snippet ${id}` ? '' : clean;
}

/**
 * The name of a snippet in messages: its id, the name that people gave it, and the beginning of its params, as in
 * `Snippet 42 (Free-shipping line) {"plan":"pro"}`.
 */
export function nameSnippet(
  { id, params = '', name }: NamedRequest,
  paramsLength: number = maxParamsLength,
): string {
  const shown = shownName(id, name);
  const parts = [`Snippet ${id}`, shown && `(${shown})`, shorten(cleanText(params), paramsLength)];
  return parts.filter(Boolean).join(' ');
}

const shorten = (text: string, length: number) =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;
