import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { httpServer } from '../support/http/tls-server.ts';
import { serviceCertificate } from '../support/service/authority.ts';
import { configWith, createSite } from '../support/site/site.ts';
import { cli } from '../support/tools/cli.ts';

/** A service with one snippet and one key. */
async function startService(name: string) {
  const key = `sk_of_${name}_0123456789`;
  const answer: Parameters<typeof httpServer>[0] = (request, response) => {
    const isKnown = request.headers.authorization === `Bearer ${key}`;
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ content: service.published }));
  };
  const { origin: url, close } = await httpServer(answer, { using: serviceCertificate() });
  const environment = { SNIPPETS_API_KEY: key, SNIPPETS_RENDER_BASE_URL: url };
  const service = { published: '', environment, url, close };
  return service;
}

// A command that asks the wrong service finds a change, or is refused.
const staging = await startService('staging');
const production = await startService('production');
const site = await createSite({
  'src/pages/index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
});

const files = ['.env', '.env.staging', '.env.production', 'settings/.env'];

afterAll(async () => {
  await site.remove();
  await staging.close();
  await production.close();
});
beforeEach(async () => {
  staging.published = '<b>staging</b>';
  production.published = '<b>production</b>';
  await rm(join(site.directory, 'node_modules/.astro'), { recursive: true, force: true });
  await site.write({ 'astro.config.mjs': configWith() });
});
afterEach(async () => {
  for (const name of files) await rm(join(site.directory, name), { force: true });
});

const lines = ({ environment }: typeof staging) =>
  Object.entries(environment)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

const run = (arguments_: string[], environment: Record<string, string> = {}) =>
  cli(site.directory, arguments_, environment);

test('commands read the .env files of the mode that the site was built in', async () => {
  await site.write({ '.env.staging': lines(staging), '.env.production': lines(production) });
  await site.builds({}, '--mode', 'staging');
  expect(await run(['check'])).toMatchObject({ exitCode: 0 });
  const diagnosis = await run(['doctor']);
  expect(diagnosis.output).toContain(`The base URL is ${staging.url}`);
  staging.published = '<b>staging, later</b>';
  expect(await run(['refresh'])).toMatchObject({ exitCode: 0 });
  expect(await site.read('index.html')).toContain('<b>staging, later</b>');
  // Also after a refresh.
  expect(await run(['check'])).toMatchObject({ exitCode: 0 });
  expect((await run(['get', '1'])).output).toContain('<b>staging, later</b>');

  await site.builds();
  expect(await site.read('index.html')).toContain('<b>production</b>');
  expect(await run(['check'])).toMatchObject({ exitCode: 0 });
});

test('commands read the .env files in the folder that the Astro config names', async () => {
  await site.write({
    'settings/.env': lines(staging),
    '.env': lines(production),
    'astro.config.mjs': configWith().replace(
      'integrations:',
      `vite: { envDir: './settings' }, integrations:`,
    ),
  });
  await site.builds();
  expect(await site.read('index.html')).toContain('<b>staging</b>');
  expect(await run(['check'])).toMatchObject({ exitCode: 0 });
});

// The key of one service and the URL of another.
const mixed = {
  ...staging.environment,
  SNIPPETS_RENDER_BASE_URL: production.url,
};

test('a base URL from an option wins over the environment in commands, as in a build', async () => {
  await site.write({
    'astro.config.mjs': configWith(JSON.stringify({ renderBaseUrl: staging.url })),
  });
  await site.builds(mixed);
  expect(await site.read('index.html')).toContain('<b>staging</b>');
  expect((await run(['doctor'], mixed)).output).toContain(`The base URL is ${staging.url}`);
  expect(await run(['check'], mixed)).toMatchObject({ exitCode: 0 });
});

test('a base URL from a flag of inline wins over the environment in commands', async () => {
  await site.write({ 'www/index.html': '<p><snippet-embed id="1"></snippet-embed></p>' });
  const inlined = await run(['inline', 'www', '--render-base-url', staging.url], mixed);
  expect(inlined).toMatchObject({ exitCode: 0 });
  expect(await run(['check', '--output', 'www'], mixed)).toMatchObject({ exitCode: 0 });
});

test('a base URL from the environment can be changed there, if the service has moved', async () => {
  await site.write({ 'www/index.html': '<p><snippet-embed id="1"></snippet-embed></p>' });
  expect(await run(['inline', 'www'], staging.environment)).toMatchObject({ exitCode: 0 });
  const refreshed = await run(['refresh', '--output', 'www'], production.environment);
  expect(refreshed).toMatchObject({ exitCode: 0 });
  expect(await site.texts('www')).toEqual({ 'index.html': '<p><b>production</b></p>' });
});
