import { expect } from 'vitest';
import { SnippetError } from '../../../src/client/index.ts';

/** The error of a request. */
export async function failureOf(promise: Promise<unknown>): Promise<SnippetError> {
  const error = await promise.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(SnippetError);
  return error as SnippetError;
}
