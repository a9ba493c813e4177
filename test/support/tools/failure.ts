import { expect } from 'vitest';
import { SnippetError } from '../../../src/client/index.ts';

/** Expects a request of the client to fail. @returns the error. */
export async function failureOf(promise: Promise<unknown>): Promise<SnippetError> {
  const error = await promise.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(SnippetError);
  return error as SnippetError;
}
