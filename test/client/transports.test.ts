import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { defaultLimits } from '../../src/client/limits.ts';
import { fetchTransport } from '../../src/client/transport/fetch.ts';
import { httpsTransport } from '../../src/client/transport/https.ts';
import { httpServer, rawServer } from '../support/http/tls-server.ts';
import { askWith, outcomeOf, transportCases } from '../support/http/transport-cases.ts';
import { closeAfterwards, serve } from '../support/http/wire.ts';
import { serviceCertificate } from '../support/service/authority.ts';

// `fetch` takes no authority, so the process trusts it, as with NODE_EXTRA_CA_CERTS.
const authorities = getCACertificates('default');
beforeAll(() => setDefaultCACertificates([...authorities, serviceCertificate().authority]));
afterAll(() => setDefaultCACertificates(authorities));

const transports = { undici: httpsTransport, fetch: fetchTransport };
const options = { ca: undefined, concurrency: 1, limits: defaultLimits };

describe.for(Object.entries(transports))('over %s', ([, createTransport]) => {
  test.for(transportCases)('$name', async (one) => {
    expect(await outcomeOf(one, (request) => askWith(createTransport, request))).toMatchObject(one.outcome);
  });

  test('an aborted signal ends a request with its reason', async () => {
    const server = await serve(rawServer(() => controller.abort(reason), { using: serviceCertificate() }));
    const controller = new AbortController();
    const reason = new Error('enough');
    const transport = createTransport(options);
    closeAfterwards(transport);
    const request = { url: server.origin, headers: {}, timeout: 10_000 };
    await expect(transport.send(request, controller.signal)).rejects.toBe(reason);
    await expect(transport.send(request, controller.signal)).rejects.toBe(reason);
  });

  test('closing fails the requests in progress', async () => {
    const server = await serve(rawServer(() => void transport.close(), { using: serviceCertificate() }));
    const transport = createTransport(options);
    const request = { url: server.origin, headers: {}, timeout: 10_000 };
    await expect(transport.send(request, new AbortController().signal)).rejects.toMatchObject({
      kind: 'network',
    });
  });

  test('a request that cannot be made is an error of code', async () => {
    const transport = createTransport(options);
    closeAfterwards(transport);
    const signal = new AbortController().signal;
    const send = (url: string, headers = {}) => transport.send({ url, headers, timeout: 10_000 }, signal);
    for (const sent of [send('no URL'), send('https://localhost', { 'a b': 'c' })]) {
      await expect(sent).rejects.toSatisfy((error) => (error as Error).name !== 'TransportError');
    }
  });
});

describe('a transport over fetch', () => {
  const refusal = (message: string) => expect.objectContaining({ code: 'invalid-options', message });

  test('refuses an authority of its own', () => {
    expect(() => fetchTransport({ ...options, ca: 'PEM' })).toThrow(
      refusal(
        'Here, requests are made with fetch, which does not take certificates of your own (the option ca, SNIPPETS_CA_FILE). Set NODE_EXTRA_CA_CERTS (in Deno, DENO_CERT) instead, or use Node.',
      ),
    );
  });

  test.for(['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY'])('refuses a proxy in %s', (name) => {
    for (const other of ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'])
      vi.stubEnv(other, undefined);
    vi.stubEnv(name, 'http://user:secret@proxy.test:3128');
    expect(() => fetchTransport(options)).toThrow(
      refusal(
        `Here, requests are made with fetch, which does not take a proxy (${name}). Unset it, or use Node.`,
      ),
    );
  });

  test('refuses to send anything while NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
    let asked = 0;
    const server = await serve(
      httpServer((_, response) => {
        asked += 1;
        response.end('{}');
      }),
    );
    const transport = fetchTransport(options);
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const message = expect.stringContaining(
      'NODE_TLS_REJECT_UNAUTHORIZED=0 keeps certificates from being verified',
    );
    const expected = expect.objectContaining({ code: 'invalid-options', message });
    expect(() => fetchTransport(options)).toThrow(expected);
    const request = { url: server.origin, headers: {}, timeout: 10_000 };
    await expect(transport.send(request, new AbortController().signal)).rejects.toEqual(expected);
    expect(asked).toBe(0);
  });
});
