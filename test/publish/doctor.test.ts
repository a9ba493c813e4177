import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findingsOf, type Stage, stages } from '../../src/cli/doctor/examine.ts';
import type { SnippetErrorCode } from '../../src/client/snippet-error.ts';
import { startCommand } from '../support/command.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { certificate, httpServer } from '../support/tls-server.ts';

describe('what a failure says about each stage', () => {
  test.each<[SnippetErrorCode | undefined, Stage | undefined]>([
    [undefined, undefined],
    ['network', 'connection'],
    ['timeout', 'connection'],
    ['certificate', 'certificate'],
    ['redirect', 'url'],
    ['no-route', 'url'],
    ['server-error', 'service'],
    ['unauthorized', 'key'],
    ['payment-required', 'subscription'],
    ['forbidden', 'permission'],
    ['not-found', 'snippet'],
  ])('%s: %s fails, all before it works, nothing is known of what comes after', (code, failing) => {
    const findings = findingsOf(code);
    const place = failing === undefined ? stages.length : stages.indexOf(failing);
    const expected = stages.map((_, index) =>
      index < place ? 'works' : index === place ? 'fails' : 'unknown',
    );
    expect(stages.map((stage) => findings[stage])).toEqual(expected);
  });
});

describe('the command', () => {
  let service: TestService;
  let folder: string;

  beforeAll(async () => {
    service = await startTestService({ 4: 'hello' });
    folder = await mkdtemp(join(tmpdir(), 'snippets-doctor-'));
  });
  beforeEach(() => service.clearFaults());
  afterAll(async () => {
    await rm(folder, { recursive: true });
    await service.close();
  });

  const run = (arguments_: string[], environment: Record<string, string> = {}) =>
    startCommand(folder, ['doctor', ...arguments_], { ...service.environment, ...environment }).ended;

  test('a snippet that comes by both variants', async () => {
    const { exitCode, output } = await run(['4']);
    expect(output.match(/ok {5}Snippet 4 came, after \d+ ms/g)).toHaveLength(2);
    expect(output).not.toContain('FAILED');
    expect(output).toContain('A build can fetch snippets.');
    expect(exitCode).toBe(0);
  });

  test('no id and no build: one that may not be there says all but that', async () => {
    const { exitCode, output } = await run([]);
    expect(output).toMatch(/ok {5}the key may do this\n {2}- {6}there may be no snippet 1/);
    expect(exitCode).toBe(0);
  });

  test('an id that is not there', async () => {
    const { exitCode, output } = await run(['7']);
    expect(output).toMatch(/ok {5}the key may do this\n {2}FAILED Snippet 7 cannot be had\n.*404 Not Found/);
    expect(exitCode).toBe(1);
  });

  test('a key that nobody knows, and is not shown', async () => {
    const { exitCode, output } = await run(['4'], { SNIPPETS_API_KEY: 'sk_of_nobody_at_all' });
    expect(output).toMatch(/ok {5}the service is well\n {2}FAILED the key is not known\n.*401 Unauthorized/);
    expect(output).toMatch(/ {2}- {6}subscription: not known/);
    expect(output).not.toContain('sk_of_nobody_at_all');
    expect(exitCode).toBe(1);
  });

  test('a key that may retrieve and not render', async () => {
    const { output } = await run(['4'], { SNIPPETS_API_KEY: service.publicKey });
    expect(output).toMatch(/Rendering[\s\S]*FAILED the key may not do this[\s\S]*403[\s\S]*Retrieving/);
  });

  test('a subscription that has ended', async () => {
    service.store.organizations.setSubscription(service.organizationId, 'expired');
    expect((await run(['4'])).output).toMatch(
      /ok {5}the key is known\n {2}FAILED the subscription has ended/,
    );
  });

  test('no key', async () => {
    const { exitCode, output } = await run([], { SNIPPETS_API_KEY: '' });
    expect(output).toMatch(/FAILED SNIPPETS_API_KEY is not set\n.*\.env file/);
    expect(exitCode).toBe(1);
  });

  test('a key in a .env file, and one variant alone', async () => {
    await writeFile(join(folder, '.env'), `SNIPPETS_API_KEY=${service.environment.SNIPPETS_API_KEY}\n`);
    const { SNIPPETS_API_KEY: _, ...others } = service.environment;
    const environment = { ...others, SNIPPETS_RETRIEVE_BASE_URL: '' };
    const { exitCode, output } = await startCommand(folder, ['doctor', '4'], environment).ended;
    await rm(join(folder, '.env'));
    expect(output).toContain('SNIPPETS_API_KEY is set, in a file');
    expect(output).toContain('SNIPPETS_RETRIEVE_BASE_URL is not set, so this variant is not used');
    expect(exitCode).toBe(0);
  });

  test('an authority that nobody trusts', async () => {
    const { output } = await run(['4'], { NODE_EXTRA_CA_CERTS: '' });
    expect(output).toMatch(/ok {5}somebody answers there\n {2}FAILED the certificate cannot be trusted/);
    expect(output).toContain('NODE_EXTRA_CA_CERTS');
  });

  test('nobody at the address, and an address that leads elsewhere', async () => {
    const elsewhere = await httpServer((_request, response) => {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>');
    });
    const authority = join(folder, 'authority.pem');
    await writeFile(authority, certificate.ca);
    const { output } = await run(['4'], {
      SNIPPETS_RENDER_BASE_URL: 'https://127.0.0.1:9',
      SNIPPETS_RETRIEVE_BASE_URL: elsewhere.origin,
      NODE_EXTRA_CA_CERTS: authority,
    });
    await elsewhere.close();
    expect(output).toMatch(/Rendering[\s\S]*FAILED nobody can be reached there[\s\S]*ECONNREFUSED/);
    expect(output).toMatch(
      /Retrieving[\s\S]*ok {5}the certificate is trusted\n {2}FAILED the address leads somewhere else/,
    );
  });
});
