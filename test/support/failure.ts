import { expect } from 'vitest';
import { SnippetError } from '../../src/client/index.ts';

/** What a request fails with. */
export async function failureOf(promise: Promise<unknown>): Promise<SnippetError> {
  const error = await promise.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(SnippetError);
  return error as SnippetError;
}
