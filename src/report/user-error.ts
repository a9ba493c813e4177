import { AstroError } from 'astro/errors';

/**
 * An error that Astro shows as it is, with its hint below. It has no stack: where in this package it was made
 * says nothing to the people who read it.
 */
export function userError(message: string, hint?: string): AstroError {
  const error = new AstroError(message, hint);
  error.name = 'astro-snippets';
  error.stack = '';
  return error;
}
