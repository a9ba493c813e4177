import { expect, test, vi } from 'vitest';
import { createRequest } from '../../src/client/snippet-request.ts';
import { pageParams } from '../../src/snippets/page-params.ts';

test('a function `params` that throws is called once for each language of a page', () => {
  const params = vi.fn(() => {
    throw new Error('no');
  });
  const add = pageParams(params, '/');
  for (const lang of ['en', 'en', 'fr', 'en']) {
    expect(() => add?.(createRequest(1), lang)).toThrow('The option `params` failed for /: no');
  }
  expect(params).toHaveBeenCalledTimes(2);
});
