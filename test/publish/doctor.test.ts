import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { serviceCertificate } from '../support/authority.ts';
import { sharedService } from '../support/built-site.ts';
import { cli } from '../support/cli.ts';
import { type Folder, folderWith } from '../support/folder.ts';
import { httpServer } from '../support/tls-server.ts';

describe('astro-snippets doctor', async () => {
  const service = await sharedService({ 4: 'hello' });
  let folder: Folder;

  beforeEach(async () => {
    service.clearFaults();
    folder = await folderWith({});
  });

  const run = (arguments_: string[], environment: Record<string, string> = {}) =>
    cli(folder.directory, ['doctor', ...arguments_], { ...service.environment, ...environment });

  /** The URL of another service, which every command here trusts. */
  async function otherService(...[answer]: Parameters<typeof httpServer>): Promise<string> {
    const { origin, close } = await httpServer(answer, { using: serviceCertificate() });
    onTestFinished(close);
    return origin;
  }

  test('recognizes swapped base URLs', async () => {
    const { exitCode, output } = await run(['4'], {
      SNIPPETS_RENDER_BASE_URL: service.retrieveBaseUrl,
      SNIPPETS_RETRIEVE_BASE_URL: service.renderBaseUrl,
    });
    expect(output).toContain(`The base URLs may be swapped: rendering works at ${service.renderBaseUrl}.`);
    expect(output).toContain(`The base URLs may be swapped: retrieving works at ${service.retrieveBaseUrl}.`);
    expect(output.match(/FAILED the base URL is not that of the service/g)).toHaveLength(2);
    expect(exitCode).toBe(1);
  });

  test('recognizes a wrong path prefix', async () => {
    const { exitCode, output } = await run(['4'], {
      SNIPPETS_RENDER_BASE_URL: `${service.renderBaseUrl}/snippets`,
    });
    expect(output).toContain('FAILED the base URL is not that of the service');
    expect(output).toContain(
      `The path prefix is wrong: the service responds at ${service.renderBaseUrl}. Set SNIPPETS_RENDER_BASE_URL to that URL.`,
    );
    expect(exitCode).toBe(1);
  });

  test('passes all checks for a snippet that both variants return', async () => {
    const { exitCode, output } = await run(['4']);
    expect(output.match(/ok {5}Snippet 4 arrived in \d+(\.\d+)?m?s/g)).toHaveLength(2);
    expect(output).not.toContain('FAILED');
    expect(output).toContain('\nReady to build.\n');
    expect(exitCode).toBe(0);
  });

  test('checks everything but the snippet if there is no id and no build', async () => {
    const { exitCode, output } = await run([]);
    expect(
      output.match(
        /ok {5}the key has the permission\n {2}- {6}snippet: not checked\. Name one of yours: astro-snippets doctor 42/g,
      ),
    ).toHaveLength(2);
    expect(exitCode).toBe(0);
  });

  test.for<[what: string, id: string, environment: () => Record<string, string>, said: RegExp]>([
    [
      'the snippet check for an unknown id',
      '7',
      () => ({}),
      /ok {5}the key has the permission\n {2}FAILED Snippet 7 could not be fetched\n.*404 Not Found.*\[not-found\]/,
    ],
    [
      'the key check for an unknown API key, and does not show the key',
      '4',
      () => ({ SNIPPETS_API_KEY: 'sk_unknown_000000' }),
      /ok {5}the service responds normally\n {2}FAILED the key is not valid\n.*401 Unauthorized.*\[unauthorized\][\s\S]* {2}- {6}subscription: not checked/,
    ],
    [
      'the permission check of rendering for a public key',
      '4',
      () => ({ SNIPPETS_API_KEY: service.publicKey }),
      /Rendering[\s\S]*FAILED the key lacks the permission\n.*403 Forbidden.*\[forbidden\][\s\S]*Retrieving/,
    ],
    [
      'the subscription check for an expired subscription',
      '4',
      () => {
        service.store.organizations.setSubscription(service.organizationId, 'expired');
        return {};
      },
      /ok {5}the key is valid\n {2}FAILED the subscription has expired\n.*402 Payment Required.*\[payment-required\]/,
    ],
    [
      'without an API key',
      '4',
      () => ({ SNIPPETS_API_KEY: '' }),
      /FAILED SNIPPETS_API_KEY is not set\n.*\.env file/,
    ],
    [
      'if the file for the API key does not exist, without its path',
      '4',
      () => ({ SNIPPETS_API_KEY: '', SNIPPETS_API_KEY_FILE: '/sk_unknown/the-key' }),
      /FAILED The file named by SNIPPETS_API_KEY_FILE does not exist\n.*Write the API key/,
    ],
  ])('fails %s', async ([, id, environment, said]) => {
    const { exitCode, output } = await run([id], environment());
    expect(output).toMatch(said);
    expect(output).not.toContain('sk_unknown');
    expect(exitCode).toBe(1);
  });

  test('finds an API key in a .env file, and skips a variant without a base URL', async () => {
    const withKey = await folderWith({
      '.env': `SNIPPETS_API_KEY=${service.environment.SNIPPETS_API_KEY}\n`,
    });
    const { SNIPPETS_API_KEY: _, ...others } = service.environment;
    const environment = { ...others, SNIPPETS_RETRIEVE_BASE_URL: '' };
    const { exitCode, output } = await cli(withKey.directory, ['doctor', '4'], environment);
    expect(output).toContain('SNIPPETS_API_KEY is set in a file');
    expect(output).toContain('SNIPPETS_RETRIEVE_BASE_URL is not set, so this variant is not used');
    expect(exitCode).toBe(0);
  });

  test('fails the certificate check for an unknown certificate authority', async () => {
    const { origin, close } = await httpServer((_request, response) => response.end());
    onTestFinished(close);
    const { output } = await run(['4'], { SNIPPETS_RENDER_BASE_URL: origin });
    expect(output).toMatch(
      /ok {5}the host is reachable\n {2}FAILED the certificate is not trusted\n.*\[certificate\]/,
    );
    expect(output).toContain('NODE_EXTRA_CA_CERTS');
  });

  test.for([
    ['fails the snippet check if variant A alone is used and sends no content', '', 1],
    ['passes if variant A sends no content and variant B renders', 'render', 0],
  ] as const)('%s', async ([, prefix, expected]) => {
    const url = await otherService((request, response) => {
      const isRender = request.url.endsWith('/render');
      response.end(JSON.stringify(isRender ? { content: 'hello' } : { id: 4, name: 'Greeting' }));
    });
    const { exitCode, output } = await run(['4'], {
      SNIPPETS_RENDER_BASE_URL: prefix && `${url}/${prefix}`,
      SNIPPETS_RETRIEVE_BASE_URL: url,
    });
    const failed =
      /ok {5}the key has the permission\n {2}FAILED Snippet 4 could not be fetched\n.*\[no-content\]/;
    if (expected === 1) expect(output).toMatch(failed);
    else expect(output).toContain('\nReady to build.\n');
    expect(exitCode).toBe(expected);
  });

  test('finds the path prefix of variant A if that alone is used and sends no content', async () => {
    const url = await otherService((request, response) => {
      const isRoute = request.url === '/v1/snippets/4';
      response.writeHead(isRoute ? 200 : 404).end(isRoute ? '{"id":4}' : 'Not found');
    });
    const { output } = await run(['4'], {
      SNIPPETS_RENDER_BASE_URL: '',
      SNIPPETS_RETRIEVE_BASE_URL: `${url}/v1/snippets`,
    });
    expect(output).toContain(`The path prefix is wrong: the service responds at ${url}/v1.`);
  });

  test('fails for a host that does not respond and for a base URL of another server', async () => {
    const { output } = await run(['4'], {
      SNIPPETS_RENDER_BASE_URL: 'https://127.0.0.1:9',
      SNIPPETS_RETRIEVE_BASE_URL: await otherService((_request, response) => {
        response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>');
      }),
    });
    expect(output).toMatch(
      /Rendering[\s\S]*FAILED the host could not be reached\n.*ECONNREFUSED.*\[network\]/,
    );
    expect(output).toMatch(
      /Retrieving[\s\S]*ok {5}the certificate is trusted\n {2}FAILED the base URL is not that of the service\n.*\[no-route\]/,
    );
  });
});
