import { expect, test } from 'vitest';
import { z } from 'zod';
import { definedRequest } from '../../src/client/define-snippet.ts';
import { defineSnippet } from '../../src/client/index.ts';
import { createRequest } from '../../src/client/snippet-request.ts';

test('a snippet defined without params accepts no params', async () => {
  const plain = defineSnippet({ id: 42 });
  expect(await definedRequest(plain, undefined)).toEqual(createRequest(42));
  await expect(definedRequest(plain, {})).rejects.toMatchObject({
    code: 'invalid-params',
    snippetId: 42,
    message: 'Snippet 42: it is defined without params. Remove them, or give its `defineSnippet` a schema.',
  });
});

test('params are returned as the schema outputs them, with defaults', async () => {
  const pricing = defineSnippet({ id: 42, params: z.object({ plan: z.string().default('free') }) });
  expect(await definedRequest(pricing, {})).toEqual(createRequest(42, { plan: 'free' }));
});

test('every invalid param is reported with its path', async () => {
  const pricing = defineSnippet({
    id: 42,
    params: z.object({ plan: z.enum(['free', 'pro']), seats: z.array(z.int()) }),
  });
  await expect(definedRequest(pricing, { plan: 'gold', seats: [1, 'two'] })).rejects.toMatchObject({
    code: 'invalid-params',
    snippetId: 42,
    message: expect.stringMatching(/^Snippet 42: params\.plan: [^;]+; params\.seats\.1: [^;]+$/),
  });
});

test('issues of any Standard Schema library are reported, with control characters removed', async () => {
  const schema = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: () => ({
        issues: [{ message: 'is\nwrong', path: [{ key: 'plan' }, 0] }, { message: 'all of it' }],
      }),
    },
  } as const;
  const pricing = defineSnippet({ id: 42, params: schema as never });
  await expect(definedRequest(pricing, {})).rejects.toMatchObject({
    message: 'Snippet 42: params.plan.0: is wrong; params: all of it',
  });
});

test('defineSnippet rejects an invalid id', () => {
  expect(() => defineSnippet({ id: 0 })).toThrow(expect.objectContaining({ code: 'invalid-id' }));
});
