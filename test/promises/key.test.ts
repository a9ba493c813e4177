import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite, type Site } from '../support/site.ts';
import { httpServer, rawServer } from '../support/tls-server.ts';
import { clientOf, failureOf, serve } from '../support/wire.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ 1: '<b>one</b>', 2: 'no key here' });
});
afterAll(() => service.close());

const files = {
  'src/pages/index.astro': `---
import { Snippet } from 'astro-snippets/components';
---
<p><Snippet id={1} /></p><script>console.log(import.meta.env.MODE);</script>`,
};

/** The key as it is, and as it would look encoded, wherever in a longer text it stood. */
function formsOf(key: string): string[] {
  const inBase64 = ['', 'x', 'xx'].flatMap((before) => {
    const encoded = Buffer.from(`${before}${key}`).toString('base64');
    const whole = encoded.slice(before.length === 0 ? 0 : before.length + 1, -4);
    return [whole, whole.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [key, encodeURIComponent(key), Buffer.from(key).toString('hex'), ...inBase64];
}

async function expectNowhere(site: Site, output: string, key: string) {
  // The whole site: its output, Astro's caches, and its sources. Only .env may hold the key.
  const names = (await site.list('.')).filter((name) => name !== '.env');
  const files = names.map((name) => join(site.directory, name));
  for (const form of formsOf(key)) {
    expect(output).not.toContain(form);
    for (const file of files) expect((await readFile(file)).includes(form), file).toBe(false);
  }
}

test('a good build: the key is in no file of the output, in no cache and in no line of the log', async () => {
  const site = await createSite(files);
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(0);
  expect(await site.read('index.html')).toContain('<p><b>one</b></p>');
  await expectNowhere(site, output, service.environment.SNIPPETS_API_KEY);
  await site.remove();
});

test.for([
  ['a key that is refused', { SNIPPETS_API_KEY: 'sk_refused+/=%_0123456789' }],
  ['a malformed key', { SNIPPETS_API_KEY: 'sk_malformed_0123456789\n' }],
  [
    'a service that is not there',
    { SNIPPETS_RENDER_BASE_URL: 'https://127.0.0.1:9/', SNIPPETS_RETRIEVE_BASE_URL: '' },
  ],
] as const)('a failing build, for %s: the key is in no file and in no line', async ([, changes]) => {
  const site = await createSite(files);
  const environment = { ...service.environment, ...changes };
  const { exitCode, output } = await site.build(environment);
  expect(exitCode).toBe(1);
  await expectNowhere(site, output, environment.SNIPPETS_API_KEY.trim());
  await site.remove();
});

test('in no line of a log that tells all, when the key is in a file', async () => {
  const site = await createSite(files);
  const { SNIPPETS_API_KEY, ...environment } = service.environment;
  await site.write({ 'the-key': `${SNIPPETS_API_KEY}\n` });
  const telling = { SNIPPETS_API_KEY_FILE: 'the-key', NODE_DEBUG: '*', DEBUG: '*' };
  const { exitCode, output } = await site.build({ ...environment, ...telling }, '--verbose');
  expect(exitCode).toBe(0);
  expect(output).toContain('using resolved env');
  expect(await site.read('index.html')).toContain('<p><b>one</b></p>');
  await rm(join(site.directory, 'the-key'));
  await expectNowhere(site, output, SNIPPETS_API_KEY);
  await site.remove();
});

test('in a log that tells all, only where Node and Vite list the whole environment, when it is in a variable', async () => {
  const site = await createSite(files);
  const { output } = await site.build({ ...service.environment, NODE_DEBUG: '*' }, '--verbose');
  const lines = output.split('\n').filter((line) => line.includes(service.environment.SNIPPETS_API_KEY));
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) expect(line).toMatch(/^\s+('SNIPPETS_API_KEY=|SNIPPETS_API_KEY: ')/);
  await site.remove();
});

test('a file that cannot be read is named, and so is the variable', async () => {
  const site = await createSite(files);
  const { SNIPPETS_API_KEY: _, ...environment } = service.environment;
  const { exitCode, output } = await site.build({ ...environment, SNIPPETS_API_KEY_FILE: 'nowhere' });
  expect(exitCode).toBe(1);
  expect(output).toContain('The file that SNIPPETS_API_KEY_FILE names cannot be read: ENOENT.');
  await site.remove();
});

test('a key in a variable that browsers see is refused at the start, whatever its form', async () => {
  const site = await createSite(files);
  const key = service.environment.SNIPPETS_API_KEY;
  for (const value of [key, `x${Buffer.from(`Bearer ${key}`).toString('base64')}`]) {
    const { exitCode, output } = await site.build({ ...service.environment, PUBLIC_KEY: value });
    expect(exitCode).toBe(1);
    expect(output).toContain('PUBLIC_KEY holds the API key');
    await expectNowhere(site, output, key);
  }
  await site.remove();
});

test('the key is read from a .env file too', async () => {
  const site = await createSite(files);
  const { SNIPPETS_API_KEY, ...environment } = service.environment;
  await site.write({ '.env': `SNIPPETS_API_KEY=${SNIPPETS_API_KEY}\n` });
  const { exitCode, output } = await site.build(environment);
  expect(exitCode).toBe(0);
  await expectNowhere(site, output, SNIPPETS_API_KEY);
  await site.remove();
});

test('the environment wins over a .env file', async () => {
  const site = await createSite(files);
  await site.write({ '.env': 'SNIPPETS_API_KEY=sk_of_the_file_0123456789\n' });
  expect((await site.build(service.environment)).exitCode).toBe(0);
  await site.remove();
});

test('a build that would publish the key fails, names the file, and removes it', async () => {
  const site = await createSite({
    ...files,
    'src/pages/leak.astro': '<p>{process.env.SNIPPETS_API_KEY}</p>',
    'src/pages/data.json.ts':
      "export const GET = () => Response.json({ auth: btoa('Bearer ' + process.env.SNIPPETS_API_KEY) });",
  });
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(1);
  expect(output).toContain('The API key would have been published in leak/index.html, data.json.');
  await expectNowhere(site, output, service.environment.SNIPPETS_API_KEY);
  await site.remove();
});

test('a snippet that holds the key is not published either', async () => {
  const site = await createSite({ 'src/pages/index.astro': '<p><snippet-embed id="2"></snippet-embed></p>' });
  service.put(2, `leak: ${service.environment.SNIPPETS_API_KEY}`);
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(1);
  expect(output).toContain('The API key would have been published in index.html.');
  await expectNowhere(site, output, service.environment.SNIPPETS_API_KEY);
  await site.remove();
});

test('the name of a snippet that holds the key is kept nowhere', async () => {
  const site = await createSite({ 'src/pages/index.astro': '<p><snippet-embed id="3"></snippet-embed></p>' });
  const { SNIPPETS_RENDER_BASE_URL: _, ...retrieving } = service.environment;
  const name = `leak: ${service.environment.SNIPPETS_API_KEY}`;
  service.put(3, 'named');
  service.store.snippets.save(service.organizationId, 3, { name, draft: 'named', sample: '{}' });
  service.store.snippets.publish(service.organizationId, 3);
  const { exitCode, output } = await site.build(retrieving);
  expect(exitCode).toBe(0);
  expect(await site.read('index.html')).toContain('<p>named</p>');
  await expectNowhere(site, output, service.environment.SNIPPETS_API_KEY);
  await site.remove();
});

describe('a redirect reaches nobody', () => {
  const places = {
    'another host': (port: number) => `https://127.0.0.1:${port}/base/snippets/42/render`,
    'another port': (port: number) => `https://localhost:${port}/base/snippets/42/render`,
    'another scheme': (port: number) => `http://localhost:${port}/base/snippets/42/render`,
    'no scheme': (port: number) => `//localhost:${port}/base/snippets/42/render`,
  };
  const statuses = [300, 301, 302, 303, 304, 305, 307, 308];
  test.each(
    Object.entries(places).flatMap(([place, locate]) =>
      statuses.map((status) => [status, place, locate] as const),
    ),
  )('%i to %s', async (status, _place, locate) => {
    let reached = 0;
    const other = await serve(
      rawServer((socket) => {
        reached += 1;
        socket.end();
      }),
    );
    const server = await serve(
      httpServer((_request, response) => {
        response.writeHead(status, { location: locate(other.port) }).end();
      }),
    );
    const error = await failureOf(clientOf(server).get(42));
    expect(error).toMatchObject({ attempts: 1, status });
    expect(['redirect', 'unexpected-status']).toContain(error.code);
    expect([reached, other.connections()]).toEqual([0, 0]);
  });
});
