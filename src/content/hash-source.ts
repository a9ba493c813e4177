import { createHash } from 'node:crypto';

/**
 * The source that allows an inline script or style sheet with exactly this code, as a policy writes it.
 *
 * It has a module of its own for workers, which may lack `node:crypto` and do without as long as no snippet has code.
 * They have no `hash()`.
 */
export const hashSource = (code: string): string =>
  `'sha256-${createHash('sha256').update(code).digest('base64')}'`;
