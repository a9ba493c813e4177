import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { certificate, httpServer, makeCertificate } from '../support/http/tls-server.ts';
import { clientOf, serve } from '../support/http/wire.ts';
import { folderWith } from '../support/site/folder.ts';
import { collectionOf, pageWith, type Site, temporarySite } from '../support/site/site.ts';
import { cli } from '../support/tools/cli.ts';
import { cleanEnvironment } from '../support/tools/environment.ts';
import { exits } from '../support/tools/exits.ts';
import { failureOf } from '../support/tools/failure.ts';

const clientModule = pathToFileURL(join(import.meta.dirname, '../../dist/client/index.js')).href;
const key = 'sk_of_an_own_authority_0123';

/** A service whose certificate no test process trusts by itself. */
async function startService(using = certificate) {
  const service = { content: '<b>first</b>', asked: 0, url: '' };
  const { origin } = await serve(
    httpServer(
      ({ headers }, response) => {
        service.asked += 1;
        response.statusCode = headers.authorization === `Bearer ${key}` ? 200 : 401;
        response.end(JSON.stringify({ id: 1, content: service.content }));
      },
      { using },
    ),
  );
  service.url = origin;
  return service;
}

async function startSite(
  variables: Record<string, string>,
  files: Record<string, string> = {},
): Promise<Site> {
  const lines = Object.entries({ SNIPPETS_API_KEY: key, ...variables }).map(
    ([name, value]) => `${name}=${value}`,
  );
  return temporarySite({
    '.env': lines.join('\n'),
    'certs/ca.pem': certificate.ca,
    'src/pages/index.astro': pageWith('<html><body><p><Snippet id={1} /></p></body></html>'),
    'src/content.config.ts': collectionOf('texts', '{ one: { id: 1 } }'),
    ...files,
  });
}

test('SNIPPETS_CA_FILE in .env is enough for builds, collections and commands', async () => {
  const service = await startService();
  const site = await startSite({
    SNIPPETS_RENDER_BASE_URL: service.url,
    SNIPPETS_CA_FILE: 'certs/ca.pem',
  });
  await site.builds({});
  expect(await site.read('index.html')).toContain('<p><b>first</b></p>');
  const run = (...arguments_: string[]) => cli(site.directory, arguments_);
  await exits(0, run('doctor'));
  await exits(0, run('check'));
  service.content = '<b>second</b>';
  await exits(10, run('check'));
  expect((await run('get', '1')).stdout).toBe('<b>second</b>');

  // The record has no copy of the file, so that a command sees its own flaw.
  const record = JSON.stringify(await site.texts('node_modules/.astro'));
  expect(record).not.toContain('BEGIN CERTIFICATE');
  await writeFile(join(site.directory, 'certs/ca.pem'), (await makeCertificate()).ca);
  expect(await exits(1, run('check'))).toContain(
    'SNIPPETS_CA_FILE or the option `ca` is set, but does not help.',
  );
  await writeFile(join(site.directory, 'certs/ca.pem'), certificate.ca.slice(0, 300));
  const flaw =
    /SNIPPETS_CA_FILE names ".*certs\/ca\.pem", which has a certificate that is malformed or cut off\./;
  expect(await exits(1, run('doctor'))).toMatch(flaw);
  const asked = service.asked;
  const failed = await exits(1, site.build({}));
  expect(failed).toMatch(flaw);
  expect(failed).toContain('Name a file with certificates (PEM)');
  expect(service.asked).toBe(asked);
});

test('SNIPPETS_CA_FILE in the environment wins over .env, and adds to the option ca, also in inline', async () => {
  const [service, other] = [await startService(), await startService(await makeCertificate())];
  const { directory } = await folderWith({
    '.env': `SNIPPETS_CA_FILE=missing.pem\nSNIPPETS_API_KEY=${key}\nSNIPPETS_RENDER_BASE_URL=${service.url}\n`,
    'ca.pem': certificate.ca,
    'www/index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
    'snippets.config.js': `export default ${JSON.stringify({ ca: (await makeCertificate({ name: 'option.test' })).ca })};`,
  });
  const run = (arguments_: string[], environment = {}) => cli(directory, arguments_, environment);
  expect(await exits(1, run(['inline', 'www']))).toContain('missing.pem", which does not exist.');
  await exits(0, run(['inline', 'www'], { SNIPPETS_CA_FILE: './ca.pem' }));
  await exits(0, run(['check', '--output', 'www'], { SNIPPETS_CA_FILE: join(directory, 'ca.pem') }));
  const untrusted = { SNIPPETS_CA_FILE: 'ca.pem', SNIPPETS_RENDER_BASE_URL: other.url };
  expect(await exits(1, run(['check', '--output', 'www'], untrusted))).toContain('[certificate]');
});

test('without an API key, nothing is asked, so that the file may be missing', async () => {
  const site = await startSite(
    {
      SNIPPETS_API_KEY: '',
      SNIPPETS_RENDER_BASE_URL: 'https://localhost:9',
      SNIPPETS_CA_FILE: 'missing.pem',
    },
    {
      'astro.config.mjs': `import snippets from 'astro-snippets';
export default { integrations: [snippets({ missingKey: 'children' })] };`,
    },
  );
  await site.builds({});
});

test('a proxy over HTTPS is trusted by the same authorities', async () => {
  const service = await startService();
  const tunnels: string[] = [];
  const { key: privateKey, cert } = certificate;
  const proxy = createServer({ key: privateKey, cert }).on('connect', (request, socket: Socket) => {
    tunnels.push(request.url ?? '');
    const upstream = connect(Number(new URL(service.url).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    socket.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
    upstream.on('error', () => socket.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  vi.stubEnv('NO_PROXY', '');
  vi.stubEnv('no_proxy', '');
  vi.stubEnv('HTTPS_PROXY', `https://localhost:${(proxy.address() as AddressInfo).port}`);

  const client = clientOf({ origin: service.url }, { apiKey: key });
  expect(await client.get(1)).toMatchObject({ content: '<b>first</b>' });
  expect(tunnels).toEqual([new URL(service.url).host]);
  const other = (await makeCertificate()).ca;
  const untrusted = clientOf({ origin: service.url }, { apiKey: key, ca: other });
  expect(await failureOf(untrusted.get(1))).toMatchObject({ code: 'certificate', attempts: 1 });
  expect(tunnels).toHaveLength(1);
});

test.for([
  [
    '/etc/ssl/ca.pem',
    'the option ca has no certificate (PEM: text that begins with -----BEGIN CERTIFICATE-----)',
  ],
  [certificate.ca.slice(0, 300), 'the option ca has a certificate that is malformed or cut off'],
  ['', 'the option ca is empty'],
  [[certificate.ca, certificate.key], 'the option ca has a private key'],
] as const)('a client with an unusable ca (%#) says so, and asks nothing', async ([ca, reason]) => {
  const service = await startService();
  const error = await failureOf(clientOf({ origin: service.url }, { apiKey: key, ca }).get(1));
  expect(error).toMatchObject({ code: 'invalid-options', reason, attempts: 1 });
  expect(error.message + error.stack).not.toContain('BEGIN PRIVATE');
  expect(service.asked).toBe(0);
});

test('the authorities that Node trusts stay trusted: those of NODE_EXTRA_CA_CERTS and of the system', async () => {
  const { directory } = await folderWith({
    'company.pem': certificate.ca,
    'own.pem': (await makeCertificate({ name: 'own.test' })).ca,
    'get.mjs': `import { readFileSync } from 'node:fs';
      import { SnippetClient } from ${JSON.stringify(clientModule)};
      const [, , apiKey, renderBaseUrl] = process.argv;
      const client = new SnippetClient({ apiKey, renderBaseUrl, ca: readFileSync('own.pem', 'utf8'), patience: 0 });
      console.log((await client.get(1).catch(({ code }) => ({ content: code }))).content);
      await client.close();`,
  });
  const service = await startService();
  const get = async (environment: Record<string, string>) => {
    const env = { ...cleanEnvironment(), ...environment };
    const running = promisify(execFile)(process.execPath, ['get.mjs', key, service.url], {
      cwd: directory,
      env,
    });
    return (await running).stdout.trim();
  };
  expect(await get({})).toBe('certificate');
  expect(await get({ NODE_EXTRA_CA_CERTS: 'company.pem' })).toBe('<b>first</b>');
  // OpenSSL's variable for the system's authorities. macOS and Windows have a store in its place.
  if (process.platform !== 'linux') return;
  const system = { SSL_CERT_FILE: join(directory, 'company.pem') };
  expect(await get({ ...system, NODE_USE_SYSTEM_CA: '1' })).toBe('<b>first</b>');
});
