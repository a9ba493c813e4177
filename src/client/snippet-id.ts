import { cleanText } from './clean-text.ts';
import { SnippetError } from './snippet-error.ts';

/**
 * Reads a snippet's id (specification, section 2: an integer): a positive safe integer, or its decimal
 * digits as an attribute holds them. Anything else could climb out of the path it is put into.
 *
 * @throws SnippetError `invalid-id`
 */
export function parseSnippetId(value: unknown): number {
  const id = typeof value === 'string' && /^[1-9][0-9]{0,15}$/.test(value) ? Number(value) : value;
  if (typeof id === 'number' && Number.isSafeInteger(id) && id > 0) return id;
  throw new SnippetError('invalid-id', `A snippet's id is a positive whole number, not ${shown(value)}.`);
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing at all';
  if (typeof value === 'string') return `"${cleanText(value)}"`;
  if (typeof value === 'number' || typeof value === 'bigint') return `the ${typeof value} ${value}`;
  return value === null ? 'null' : `a value of type ${typeof value}`;
}
