import { setTimeout } from 'node:timers/promises';
import { errors } from 'undici';
import { expect, test, vi } from 'vitest';
import { SnippetClient } from '../../src/client/snippet-client.ts';
import { fetchTransport } from '../../src/client/transport/fetch.ts';
import { isErrorOfCode } from '../../src/client/transport/network-errors.ts';
import { type Transport, TransportError } from '../../src/client/transport/transport.ts';
import { apiKey } from '../support/http/network.ts';
import { closeAfterwards } from '../support/http/wire.ts';
import { instantClock } from '../support/service/clock.ts';
import { failureOf } from '../support/tools/failure.ts';

const withCode = (error: Error, code: string) => Object.assign(error, { code });
const missingModule = withCode(new Error("Cannot find package 'undici'"), 'ERR_MODULE_NOT_FOUND');

/** A client of both variants whose transport throws this, with the patience of a build. */
function clientThatThrows(thrown: unknown) {
  const send = vi.fn<Transport['send']>(async () => {
    await setTimeout(1);
    throw thrown;
  });
  const client = new SnippetClient(
    {
      apiKey,
      renderBaseUrl: 'https://render.test',
      retrieveBaseUrl: 'https://retrieve.test',
      concurrency: 1,
    },
    { clock: instantClock(), transport: { send, capacity: 1, close: async () => {} } },
  );
  closeAfterwards(client);
  return { client, send };
}

test.for([
  [
    new TypeError('response.body.bytes is not a function'),
    'TypeError: response.body.bytes is not a function',
  ],
  [new ReferenceError('Buffer is not defined'), 'ReferenceError: Buffer is not defined'],
  [missingModule, "Error: Cannot find package 'undici'"],
  ['a text', 'thrown: a text'],
] as const)('an error of code is neither retried nor asked for elsewhere: %s', async ([thrown, reason]) => {
  const { client, send } = clientThatThrows(thrown);
  const [first, second] = [failureOf(client.get(1)), failureOf(client.get(2))];
  const failures = await Promise.all([first, second]);
  expect(failures.map(({ code }) => code).sort()).toEqual(['aborted', 'internal-error']);
  const failure = failures.find(({ code }) => code === 'internal-error');
  expect(failure?.reason).toBe(`the code failed, not the service: ${reason}`);
  expect(send).toHaveBeenCalledTimes(1);
});

test('an error of code does not show the API key', async () => {
  const { client } = clientThatThrows(new TypeError(`Invalid header: Bearer ${apiKey}`));
  const failure = await failureOf(client.get(1));
  expect(failure.message).toContain('Invalid header: Bearer [API key]');
});

test.for([
  [new TypeError("Cannot read properties of undefined (reading 'x')"), true],
  [new RangeError('Invalid array length'), true],
  [new SyntaxError('Unexpected token'), true],
  [new errors.InvalidArgumentError('invalid path'), true],
  [new errors.NotSupportedError('not supported'), true],
  // msw and others imitate a failure of the network.
  [new TypeError('Network error'), false],
  [new TypeError('fetch failed'), false],
  [new errors.SocketError('other side closed'), false],
  [new errors.HTTPParserError('Invalid character'), false],
  [withCode(new Error('read ECONNRESET'), 'ECONNRESET'), false],
  [withCode(new Error('self-signed certificate'), 'DEPTH_ZERO_SELF_SIGNED_CERT'), false],
  [new AggregateError([withCode(new Error('refused'), 'ECONNREFUSED')]), false],
  [new TransportError('network', 'cut off'), false],
  ['a text', false],
  [undefined, false],
] as const)('%s is an error of code: %s', ([error, isOfCode]) => {
  expect(isErrorOfCode(error)).toBe(isOfCode);
});

test('where there is no fetch, a request is an error of code', async () => {
  vi.stubGlobal('fetch', undefined);
  const limits = { bodyBytes: 1, idleTimeout: 1_000 } as never;
  const transport = fetchTransport({ ca: undefined, concurrency: 1, limits });
  const request = { url: 'https://service.test', headers: {}, timeout: 1_000 };
  const sent = transport.send(request, new AbortController().signal);
  await expect(sent.finally(() => vi.unstubAllGlobals())).rejects.toThrow(TypeError);
});
