import { protectKey } from '../text/known-keys.ts';
import { SnippetError } from './snippet-error.ts';

/** Before the key gets into a header: an HTTP library quotes one that it rejects. From then on, it is protected. */
export function checkApiKey(key: unknown, name = 'The API key'): string {
  const invalid = (flaw: string) =>
    new SnippetError('invalid-options', `${name} ${flaw}. Its value is not shown on purpose.`);
  if (typeof key !== 'string') throw invalid('is not a string');
  if (key === '') throw invalid('is empty');
  if (key.trim() !== key) throw invalid('has white space or a line break at its start or end');
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw invalid('contains a space, a control character or a non-ASCII character');
  }
  // A shorter one may be in any page by chance.
  if (key.length < 8) throw invalid('has fewer than 8 characters');
  protectKey(key);
  return key;
}
