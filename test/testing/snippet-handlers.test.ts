import { expect, test } from 'vitest';
import { SnippetError } from '../../src/client/index.ts';
import { snippetHandlers } from '../../src/testing/snippet-handlers.ts';
import { answerRequests, client, network, renderBaseUrl, retrieveBaseUrl } from '../support/http/network.ts';

answerRequests();

test('snippetHandlers answers with contents, fixed or made from params', async () => {
  network.use(...snippetHandlers({ 42: '<p>hi</p>', 43: ({ plan }) => `plan ${plan}` }));
  const service = client();
  expect(await service.get(42)).toMatchObject({ content: '<p>hi</p>', variant: 'render' });
  expect(await service.get(43, { plan: 'pro' })).toMatchObject({ content: 'plan pro' });
  expect(await service.retrieve(42)).toEqual({ id: 42, name: 'Snippet 42', content: '<p>hi</p>' });
  await service.close();
});

test('snippetHandlers answers an unknown id with 404 and a wrong API key with 401', async () => {
  network.use(
    ...snippetHandlers({ 42: 'x' }, { apiKey: 'sk_another_key_0000', renderBaseUrl, retrieveBaseUrl }),
  );
  const service = client();
  expect(await service.get(42).catch(({ code }) => code)).toBe('unauthorized');
  const right = client({ apiKey: 'sk_another_key_0000' });
  await expect(right.get(7)).rejects.toMatchObject({ code: 'not-found', detail: 'There is no snippet 7.' });
  await service.close();
  await right.close();
});

test('snippetHandlers simulates permanent and temporary faults by id', async () => {
  network.use(
    ...snippetHandlers({
      1: { status: 403, detail: 'Not with this key.' },
      2: { status: 503, times: 1, content: 'back' },
      3: { status: 'network-error' },
      4: { status: 429, retryAfter: '3600' },
    }),
  );
  const service = client();
  await expect(service.get(1)).rejects.toMatchObject({ code: 'forbidden', detail: 'Not with this key.' });
  expect(await service.get(2)).toMatchObject({ content: 'back', variant: 'render' });
  const failure: unknown = await service.get(3).catch((error) => error);
  expect(failure).toMatchObject({ code: 'network' });
  expect(failure).toBeInstanceOf(SnippetError);
  expect((failure as SnippetError).attempts).toBeGreaterThanOrEqual(5);
  await expect(service.get(4)).rejects.toMatchObject({ code: 'rate-limited', attempts: 1 });
  await service.close();
});

test.for([
  [425, 'Too Early'],
  [501, 'Not Implemented'],
  [507, 'Insufficient Storage'],
  [522, 'Status 522'],
] as const)('snippetHandlers fails with any status, such as %i', async ([status, title]) => {
  network.use(...snippetHandlers({ 1: { status } }));
  const service = client({ limits: { attempts: 1 } });
  await expect(service.render(1)).rejects.toMatchObject({ status, title });
  await service.close();
});

test.for([200, 399, 600, 450.5, Number.NaN])(
  'snippetHandlers refuses the status %f, as it is no failure',
  (status) => {
    expect(() => snippetHandlers({ 7: { status } })).toThrow(
      new RangeError(`The status of snippet 7 is ${status}. A failure has one from 400 to 599.`),
    );
  },
);
