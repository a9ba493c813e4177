import { flawsInBrowser } from './check-bundle.ts';
import { findWritten } from './find-written.ts';
import type { ParseCode } from './site-source.ts';

/**
 * Says what is wrong with a script that mentions the element and is no part of a bundle: the end of a sentence.
 * Without a parser, or if the script cannot be parsed, it may write an embed.
 */
export function scriptFlaw(code: string, parse?: ParseCode): string | undefined {
  const { certain, perhaps } = flawsInBrowser;
  if (!parse) return perhaps.message;
  try {
    return findWritten(parse(code)).has('writes') ? certain.message : undefined;
  } catch {
    return perhaps.message;
  }
}
