import { expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../src/client/clock.ts';
import { SiteImages } from '../../src/images/site-images.ts';
import { certificate, httpServer, tunnelProxy } from '../support/http/tls-server.ts';
import { clientOf, serve } from '../support/http/wire.ts';
import { failureOf } from '../support/tools/failure.ts';

const names = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];

/** Sets these proxy variables and removes all others. */
function stubProxies(variables: Record<string, string>): void {
  for (const name of names) vi.stubEnv(name, undefined);
  vi.stubEnv('NO_PROXY', '');
  vi.stubEnv('no_proxy', '');
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
}

const startServer = () => serve(httpServer((_, response) => response.end('{"content":"fine"}')));

test.for<[what: string, setTo: (port: string) => string]>([
  ['an IP address and a port', (port) => `127.0.0.1:${port}`],
  ['a host and a port', (port) => `localhost:${port}`],
  ['a host, a port and a slash', (port) => `localhost:${port}/`],
  ['a user, a password, a host and a port', (port) => `user:p%40ss@127.0.0.1:${port}`],
  ['a URL', (port) => `http://127.0.0.1:${port}`],
  ['a URL in upper case', (port) => `HTTP://127.0.0.1:${port}`],
  ['blanks around', (port) => ` 127.0.0.1:${port} `],
])('a proxy set as %s is used', async ([, setTo]) => {
  const server = await startServer();
  const proxy = await serve(tunnelProxy());
  stubProxies({ HTTPS_PROXY: setTo(new URL(proxy.origin).port) });
  expect(await clientOf(server).get(42)).toMatchObject({ content: 'fine' });
  expect(proxy.asked).toEqual([`localhost:${server.port} no key`]);
});

test('a certificate that does not verify is rejected through a proxy, too', async () => {
  const server = await startServer();
  const proxy = await serve(tunnelProxy());
  stubProxies({ HTTPS_PROXY: proxy.origin });
  const error = await failureOf(clientOf(server, { ca: undefined }).get(42));
  expect(error).toMatchObject({ code: 'certificate' });
  expect(proxy.asked).not.toEqual([]);
});

const unusable = { HTTPS_PROXY: 'http://', HTTP_PROXY: 'ftp://proxy.corp' };

test.for<[name: string, variables: (proxy: string) => Record<string, string>, through: boolean]>([
  ['the one in lower case wins', (proxy) => ({ https_proxy: proxy, HTTPS_PROXY: '127.0.0.1:1' }), true],
  ['an empty one in lower case wins', (proxy) => ({ https_proxy: '', HTTPS_PROXY: proxy }), false],
  ['the HTTP one is used if it is the only one', (proxy) => ({ http_proxy: proxy }), true],
  ['one for HTTP in upper case too', (proxy) => ({ HTTP_PROXY: proxy }), true],
  ['the one for HTTPS wins', (proxy) => ({ http_proxy: '127.0.0.1:1', HTTPS_PROXY: proxy }), true],
  ['unused ones are not read', (proxy) => ({ https_proxy: proxy, ...unusable }), true],
  ['NO_PROXY excepts a host', () => ({ HTTPS_PROXY: '127.0.0.1:1', no_proxy: 'localhost' }), false],
])('of several variables for proxies, %s', async ([, variables, through]) => {
  const server = await startServer();
  const proxy = await serve(tunnelProxy());
  stubProxies(variables(new URL(proxy.origin).host));
  expect(await clientOf(server).get(42)).toMatchObject({ content: 'fine' });
  expect(proxy.asked).toHaveLength(through ? 1 : 0);
});

test.for([
  'http://',
  '[::1',
  'ftp://user:secret@proxy.corp:21',
  'http://user:secret%zz@proxy.corp:3128',
  ':secret',
  'proxy.corp:secret',
])(
  'a proxy that cannot be used (%s) is an error that names the variable and not its value',
  async (value) => {
    const server = await startServer();
    stubProxies({ https_proxy: value });
    const client = clientOf(server, { retrieveBaseUrl: server.origin });
    for (const request of [client.get(42), client.get(43)]) {
      const error = await failureOf(request);
      expect(error).toMatchObject({ code: 'invalid-options', attempts: 1 });
      expect(error.message).toContain('https_proxy');
      expect(JSON.stringify([error.message, error.stack, String(error.cause)])).not.toMatch(/secret|\[::1/);
    }
    await client.close();
    expect(server.connections()).toBe(0);
  },
);

test('an image is not downloaded through an unusable proxy, and not tried again', async () => {
  stubProxies({ HTTPS_PROXY: 'http://' });
  const wait = vi.spyOn(systemClock, 'wait');
  const site = new SiteImages({
    ca: certificate.ca,
    offline: false,
    imageFolder: undefined,
    hosts: ['cdn.example'],
    assets: { folder: '_astro', prefix: '' },
  });
  onTestFinished(() => site.close());
  expect(await site.find(new URL('https://cdn.example/a.png'))).toEqual({
    flaw: expect.stringContaining('HTTPS_PROXY'),
  });
  expect(wait).not.toHaveBeenCalled();
});
