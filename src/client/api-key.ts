import { protectKey } from '../text/known-keys.ts';
import { SnippetError } from './snippet-error.ts';

/** Any page may contain a shorter key by chance, and the search for leaked keys would then find it. */
const minKeyLength = 8;

/**
 * Checks an API key before an HTTP library does: a library quotes a header that it rejects, and would show
 * the key. From then on, this process hides the key in everything that it shows.
 *
 * @param name what messages call the key, such as the environment variable that holds it.
 * @throws SnippetError `invalid-options`, without the key.
 */
export function checkApiKey(key: unknown, name = 'The API key'): string {
  const invalid = (flaw: string) =>
    new SnippetError('invalid-options', `${name} ${flaw}. Its value is not shown on purpose.`);

  if (typeof key !== 'string') throw invalid('is not a string');
  if (key === '') throw invalid('is empty');
  if (key.trim() !== key) throw invalid('has white space or a line break at its start or end');
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw invalid('contains a space, a control character or a non-ASCII character');
  }
  if (key.length < minKeyLength) throw invalid(`has fewer than ${minKeyLength} characters`);

  protectKey(key);
  return key;
}
