import { expect, test } from 'vitest';
import { SnippetClient } from '../../src/client/snippet-client.ts';
import { apiKey } from '../support/http/network.ts';
import { closeAfterwards } from '../support/http/wire.ts';
import { failureOf } from '../support/tools/failure.ts';

// A worker of Cloudflare ends all that a page has begun with the page: what others wait for never comes.

/** A client of a service that never answers requests for snippet 1. */
function clientInWorker() {
  const body = new TextEncoder().encode('{"content":"fine"}');
  const answer = { status: 200, contentType: 'application/json', retryAfter: undefined, body };
  const client = new SnippetClient(
    { apiKey, renderBaseUrl: 'https://render.test', concurrency: 1 },
    {
      transport: {
        isolatesCalls: true,
        capacity: 1,
        send: ({ url }) => (url.includes('/1/') ? new Promise(() => {}) : Promise.resolve(answer)),
        close: async () => {},
      },
    },
  );
  closeAfterwards(client);
  return client;
}

test('a call that never ends keeps no other call waiting', async () => {
  const client = clientInWorker();
  const stuck = failureOf(client.get(1));
  expect(await Promise.all([client.get(2), client.get(3)])).toMatchObject([
    { content: 'fine' },
    { content: 'fine' },
  ]);
  expect(client.counts.requests).toBe(3);
  await client.close();
  expect(await stuck).toMatchObject({ code: 'closed' });
});

test('a closed client refuses later calls', async () => {
  const client = clientInWorker();
  await client.close();
  expect(await failureOf(client.get(2))).toMatchObject({ code: 'closed' });
});
