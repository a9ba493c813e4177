import { beforeEach, describe, expect, test } from 'vitest';
import { httpServer, makeCertificate } from '../support/http/tls-server.ts';
import { serve, trustedServer } from '../support/http/wire.ts';
import { sharedService } from '../support/site/built-site.ts';
import { type Folder, folderWith } from '../support/site/folder.ts';
import { cli } from '../support/tools/cli.ts';
import { exits } from '../support/tools/exits.ts';

describe('astro-snippets doctor', async () => {
  const service = await sharedService({ 4: 'hello' });
  let folder: Folder;

  beforeEach(async () => {
    folder = await folderWith({});
  });

  const run = (arguments_: string[], environment: Record<string, string> = {}) =>
    cli(folder.directory, ['doctor', ...arguments_], { ...service.environment, ...environment });

  const at = (SNIPPETS_RENDER_BASE_URL: string, SNIPPETS_RETRIEVE_BASE_URL: string) => ({
    SNIPPETS_RENDER_BASE_URL,
    SNIPPETS_RETRIEVE_BASE_URL,
  });

  test('recognizes swapped base URLs', async () => {
    const output = await exits(1, run(['4'], at(service.retrieveBaseUrl, service.renderBaseUrl)));
    expect(output).toContain(`Swap the base URLs: rendering works at ${service.renderBaseUrl}.`);
    expect(output).toContain(`Swap the base URLs: retrieving works at ${service.retrieveBaseUrl}.`);
    expect(output.match(/FAILED The base URL is the URL for (rendering|retrieving)/g)).toHaveLength(2);
  });

  test('says that base URLs are swapped only if the other one answers with the snippet', async () => {
    const url = await trustedServer((_request, response) => response.writeHead(404).end('Not found'));
    const output = await exits(1, run(['4'], at(`${url}/render`, `${url}/retrieve`)));
    const said = /FAILED The base URL is not the URL of the service\n.*\[no-route\]/g;
    expect(output.match(said)).toHaveLength(2);
    expect(output).not.toMatch(/swap/i);
  });

  test('makes one request to each variant, and says that it went to this machine', async () => {
    const asked: string[] = [];
    const url = await trustedServer((request, response) => {
      asked.push(request.url);
      response.writeHead(503).end();
    });
    const { output } = await run(['4'], at(url, url));
    expect(asked).toEqual(['/snippets/4/render', '/snippets/4']);
    expect(output).toContain(`The base URL is ${url}, on this machine`);
    expect(output).toMatch(
      /FAILED The service has an internal error\n.*503.*\[server-error\]\n.*Try again later/,
    );
  });

  test('passes all checks for a snippet that both variants return', async () => {
    const output = await exits(0, run(['4']));
    expect(output.match(/ok {5}Snippet 4 arrived in \d+(\.\d+)?m?s/g)).toHaveLength(2);
    expect(output).not.toContain('FAILED');
    expect(output).toContain('\nReady to build.\n');
  });

  test('guesses an id without an argument and a build, which still tests the key', async () => {
    const output = await exits(0, run([]));
    const accepted =
      /ok {5}The service answers\. To check the key with one of your snippets: astro-snippets doctor 42/g;
    expect(output.match(accepted)).toHaveLength(2);
  });

  const withFile = { SNIPPETS_API_KEY: '', SNIPPETS_API_KEY_FILE: '/sk_unknown/the-key' };
  test.for<[what: string, environment: () => Record<string, string>, said: RegExp]>([
    [
      'for an unknown API key',
      () => ({ SNIPPETS_API_KEY: 'sk_unknown_000000' }),
      /The API key is not valid\n.*401 Unauthorized.*\[unauthorized\]\n.*Check SNIPPETS_API_KEY/,
    ],
    [
      'for a public key',
      () => ({ SNIPPETS_API_KEY: service.publicKey }),
      /The API key lacks a permission\n.*403 Forbidden.*\[forbidden\][\s\S]*Retrieving/,
    ],
    [
      'without a key',
      () => ({ SNIPPETS_API_KEY: '' }),
      /SNIPPETS_API_KEY is not set: it is empty, which .*\n.*\.env file/,
    ],
    [
      'without the file for the key',
      () => withFile,
      /The file named by SNIPPETS_API_KEY_FILE does not exist\n.*Write the API key/,
    ],
    [
      'for a host that does not respond',
      () => at('https://127.0.0.1:9', ''),
      /The service could not be reached\n.*ECONNREFUSED.*\[network\]/,
    ],
  ])('fails %s, and shows no key', async ([, environment, said]) => {
    const output = await exits(1, run(['4'], environment()));
    expect(output).toMatch(new RegExp(`FAILED ${said.source}`));
    expect(output).not.toContain('sk_unknown');
  });

  test('fails for an unknown id, an expired subscription and an unknown certificate authority', async () => {
    const missing = /FAILED The snippet does not exist\n.*404 Not Found.*\[not-found\]/;
    expect(await exits(1, run(['7']))).toMatch(missing);
    const { origin } = await serve(httpServer((_request, response) => response.end()));
    const untrusted = await exits(1, run(['4'], { SNIPPETS_RENDER_BASE_URL: origin }));
    expect(untrusted).toMatch(
      /FAILED The certificate of the service could not be verified\n.*\[certificate\]/,
    );
    expect(untrusted).toContain('set SNIPPETS_CA_FILE to the file of its certificate');
    service.store.organizations.setSubscription(service.organizationId, 'expired');
    const expired = /FAILED The subscription has expired\n.*402 Payment Required.*\[payment-required\]/;
    expect(await exits(1, run(['4']))).toMatch(expired);
  });

  test('does not advise to set `ca` where it is set', async () => {
    const { origin } = await serve(httpServer((_request, response) => response.end()));
    const { ca: other } = await makeCertificate();
    await folder.write({
      '_site/index.html': '<snippet-embed id="4"></snippet-embed>',
      'snippets.config.js': `export default ${JSON.stringify({ ca: other })};`,
    });
    await exits(0, cli(folder.directory, ['inline', '_site'], service.environment));
    const output = await exits(1, run(['4'], { SNIPPETS_RENDER_BASE_URL: origin }));
    expect(output).toMatch(
      /\[certificate\]\n +SNIPPETS_CA_FILE or the option `ca` is set, but does not help/,
    );
    expect(output).not.toContain('set SNIPPETS_CA_FILE');
    const got = await cli(folder.directory, ['get', '4'], {
      ...service.environment,
      SNIPPETS_RENDER_BASE_URL: origin,
      SNIPPETS_RETRIEVE_BASE_URL: '',
    });
    expect(got.output).toContain('is set, but does not help');
  });

  test('a missing snippet is no failure if all of its embeds are optional', async () => {
    const optional = '<snippet-embed id="7" optional>none</snippet-embed>';
    await folder.write({ '_site/index.html': `${optional}<snippet-embed id="4"></snippet-embed>` });
    await exits(0, cli(folder.directory, ['inline', '_site'], service.environment));
    const said = /ok {5}Snippet 7 does not exist, and all of its embeds are optional/g;
    expect((await exits(0, run(['7']))).match(said)).toHaveLength(2);
    // Without an id, one that exists is requested.
    expect((await run([])).output).toContain('Snippet 4 arrived');
  });

  test('finds an API key in a .env file, and skips a variant without a base URL', async () => {
    const { SNIPPETS_API_KEY: key, ...others } = service.environment;
    await folder.write({ '.env': `SNIPPETS_API_KEY=${key}\n` });
    const environment = { ...others, SNIPPETS_RETRIEVE_BASE_URL: '' };
    const output = await exits(0, cli(folder.directory, ['doctor', '4'], environment));
    expect(output).toContain('SNIPPETS_API_KEY is set in .env\n');
    expect(output).toContain('SNIPPETS_RETRIEVE_BASE_URL is not set, so nothing is retrieved');
  });

  test.for<[place: string, files: (key: string) => Record<string, string>, environment: object]>([
    ['SNIPPETS_API_KEY is set in the environment', () => ({ '.env': 'SNIPPETS_API_KEY=sk_other' }), {}],
    [
      'SNIPPETS_API_KEY is set in .env.production',
      (key) => ({ '.env': 'SNIPPETS_API_KEY=sk_other', '.env.production': `SNIPPETS_API_KEY="${key}"` }),
      { SNIPPETS_API_KEY: undefined },
    ],
    [
      'SNIPPETS_API_KEY is set in .env.local',
      (key) => ({
        '.env.local': `SNIPPETS_API_KEY=${key}`,
        '.env.production': '# SNIPPETS_API_KEY=sk_other',
      }),
      { SNIPPETS_API_KEY: undefined },
    ],
    [
      'The API key is in the file that SNIPPETS_API_KEY_FILE names',
      (key) => ({ '.env': 'SNIPPETS_API_KEY_FILE=./key.txt', 'key.txt': key }),
      { SNIPPETS_API_KEY: undefined },
    ],
    [
      'The API key is in the file that SNIPPETS_API_KEY_FILE names',
      (key) => ({ '.env': 'SNIPPETS_API_KEY=sk_other\nSNIPPETS_API_KEY_FILE=./key.txt', 'key.txt': key }),
      { SNIPPETS_API_KEY: '' },
    ],
  ])('says which file has the API key: %s', async ([place, files, environment]) => {
    await folder.write(files(service.environment.SNIPPETS_API_KEY));
    const variables = Object.entries({ ...service.environment, ...environment });
    const set = Object.fromEntries(variables.filter(([, value]) => value !== undefined));
    expect(await exits(0, cli(folder.directory, ['doctor', '4'], set))).toContain(`ok     ${place}\n`);
  });

  test.for([
    ['fails if variant A alone is used and sends no content', '', 1],
    ['passes if variant A sends no content and variant B renders', 'render', 0],
  ] as const)('%s', async ([, prefix, expected]) => {
    const url = await trustedServer((request, response) => {
      const isRender = request.url.endsWith('/render');
      response.end(JSON.stringify(isRender ? { content: 'hello' } : { id: 4, name: 'Greeting' }));
    });
    const output = await exits(expected, run(['4'], at(prefix && `${url}/${prefix}`, url)));
    if (expected === 1) expect(output).toMatch(/FAILED The answer has no content\n.*\[no-content\]/);
    else expect(output).toContain('\nReady to build.\n');
  });
});
