import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { configWith, createSite, type Site } from '../support/site.ts';
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

/** The key as it is, and in the encodings that it can have at any offset of a longer text. */
function formsOf(key: string): string[] {
  const inBase64 = ['', 'x', 'xx'].flatMap((before) => {
    const encoded = Buffer.from(`${before}${key}`).toString('base64');
    const whole = encoded.slice(before.length === 0 ? 0 : before.length + 1, -4);
    return [whole, whole.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [key, encodeURIComponent(key), Buffer.from(key).toString('hex'), ...inBase64];
}

async function expectNowhere(site: Site, output: string, key: string) {
  // The whole site: its output, Astro's caches, and its sources. Only .env may contain the key.
  const names = (await site.list('.')).filter((name) => name !== '.env');
  const files = names.map((name) => join(site.directory, name));
  for (const form of formsOf(key)) {
    expect(output).not.toContain(form);
    for (const file of files) expect((await readFile(file)).includes(form), file).toBe(false);
  }
}

test('a successful build leaves the API key out of its output, its caches and its log', async () => {
  const site = await createSite(files);
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(0);
  expect(await site.read('index.html')).toContain('<p><b>one</b></p>');
  await expectNowhere(site, output, service.environment.SNIPPETS_API_KEY);
  await site.remove();
});

test.for([
  ['an unknown API key', { SNIPPETS_API_KEY: 'sk_unknown+/=%_0123456789' }],
  ['a malformed API key', { SNIPPETS_API_KEY: 'sk_malformed_0123456789\n' }],
  [
    'a service that cannot be reached',
    { SNIPPETS_RENDER_BASE_URL: 'https://127.0.0.1:9/', SNIPPETS_RETRIEVE_BASE_URL: '' },
  ],
] as const)(
  'a build that fails because of %s leaves the API key out of its files and its log',
  async ([, changes]) => {
    const site = await createSite(files);
    const environment = { ...service.environment, ...changes };
    const { exitCode, output } = await site.build(environment);
    expect(exitCode).toBe(1);
    await expectNowhere(site, output, environment.SNIPPETS_API_KEY.trim());
    await site.remove();
  },
);

test('a verbose log does not contain an API key that is read from a file', async () => {
  const site = await createSite(files);
  const { SNIPPETS_API_KEY, ...environment } = service.environment;
  await site.write({ 'the-key': `${SNIPPETS_API_KEY}\n` });
  const verbose = { SNIPPETS_API_KEY_FILE: 'the-key', NODE_DEBUG: '*', DEBUG: '*' };
  const { exitCode, output } = await site.build({ ...environment, ...verbose }, '--verbose');
  expect(exitCode).toBe(0);
  expect(output).toContain('using resolved env');
  expect(await site.read('index.html')).toContain('<p><b>one</b></p>');
  await rm(join(site.directory, 'the-key'));
  await expectNowhere(site, output, SNIPPETS_API_KEY);
  await site.remove();
});

test('a verbose log contains an API key from the environment only where Node and Vite list the environment', async () => {
  const site = await createSite(files);
  const { output } = await site.build({ ...service.environment, NODE_DEBUG: '*' }, '--verbose');
  const lines = output.split('\n').filter((line) => line.includes(service.environment.SNIPPETS_API_KEY));
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) expect(line).toMatch(/^\s+('SNIPPETS_API_KEY=|SNIPPETS_API_KEY: ')/);
  await site.remove();
});

test('a key file that does not exist fails a build that needs the key, and names the variable', async () => {
  const site = await createSite(files);
  const { SNIPPETS_API_KEY: _, ...environment } = service.environment;
  const { exitCode, output } = await site.build({ ...environment, SNIPPETS_API_KEY_FILE: 'nowhere' });
  expect(exitCode).toBe(1);
  expect(output).toContain(
    '[astro-snippets/unreadable-key-file] The file named by SNIPPETS_API_KEY_FILE does not exist. Needed for /.',
  );
  expect(output).toContain('Write the API key to that file, or set SNIPPETS_API_KEY instead.');
  await site.remove();
});

test('a key file that does not exist is no error for a build that shows children, or no snippets', async () => {
  const { SNIPPETS_API_KEY: _, ...environment } = service.environment;
  const withoutFile = { ...environment, SNIPPETS_API_KEY_FILE: 'nowhere' };
  const plain = await createSite({ 'src/pages/index.html': '<p>nothing</p>' });
  const built = await plain.build(withoutFile);
  expect(built.exitCode, built.output).toBe(0);
  await plain.remove();
  const site = await createSite({
    'astro.config.mjs': configWith("{ missingKey: 'children' }"),
    'src/pages/index.html': '<p><snippet-embed id="1">children</snippet-embed></p>',
  });
  const { exitCode, output } = await site.build(withoutFile);
  expect(exitCode, output).toBe(0);
  expect(await site.read('index.html')).toContain('<p>children</p>');
  expect(output).toContain(
    'The file named by SNIPPETS_API_KEY_FILE does not exist, so embeds show their children',
  );
  await site.remove();
});

test('a key file that cannot be read fails the build and names the variable', async () => {
  const site = await createSite({ 'src/pages/index.html': '<p>nothing</p>' });
  const { SNIPPETS_API_KEY: _, ...environment } = service.environment;
  const { exitCode, output } = await site.build({ ...environment, SNIPPETS_API_KEY_FILE: 'src' });
  expect(exitCode).toBe(1);
  expect(output).toContain(
    '[astro-snippets/unreadable-key-file] The file named by SNIPPETS_API_KEY_FILE could not be read: EISDIR.',
  );
  await site.remove();
});

test('an API key in a variable that browsers can read fails the build at the start, in any encoding', async () => {
  const site = await createSite(files);
  const key = service.environment.SNIPPETS_API_KEY;
  for (const value of [key, `x${Buffer.from(`Bearer ${key}`).toString('base64')}`]) {
    const { exitCode, output } = await site.build({ ...service.environment, PUBLIC_KEY: value });
    expect(exitCode).toBe(1);
    expect(output).toContain(
      '[astro-snippets/exposed-key] PUBLIC_KEY contains the API key, and every visitor could read it.',
    );
    await expectNowhere(site, output, key);
  }
  await site.remove();
});

test('the API key is read from a .env file', async () => {
  const site = await createSite(files);
  const { SNIPPETS_API_KEY, ...environment } = service.environment;
  await site.write({ '.env': `SNIPPETS_API_KEY=${SNIPPETS_API_KEY}\n` });
  const { exitCode, output } = await site.build(environment);
  expect(exitCode).toBe(0);
  await expectNowhere(site, output, SNIPPETS_API_KEY);
  await site.remove();
});

test('an API key in the environment wins over one in a .env file', async () => {
  const site = await createSite(files);
  await site.write({ '.env': 'SNIPPETS_API_KEY=sk_from_file_0123456789\n' });
  expect((await site.build(service.environment)).exitCode).toBe(0);
  await site.remove();
});

test('a build whose output contains the API key fails, names the files and removes them', async () => {
  const site = await createSite({
    ...files,
    'src/pages/leak.astro': '<p>{process.env.SNIPPETS_API_KEY}</p>',
    'src/pages/data.json.ts':
      "export const GET = () => Response.json({ auth: btoa('Bearer ' + process.env.SNIPPETS_API_KEY) });",
  });
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(1);
  expect(output).toContain(
    '[astro-snippets/published-key] The API key was found in data.json, leak/index.html. These files were removed.',
  );
  await expectNowhere(site, output, service.environment.SNIPPETS_API_KEY);
  await site.remove();
});

test('a build with a snippet that contains the API key fails', async () => {
  const site = await createSite({ 'src/pages/index.astro': '<p><snippet-embed id="2"></snippet-embed></p>' });
  service.put(2, `leak: ${service.environment.SNIPPETS_API_KEY}`);
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(1);
  expect(output).toContain(
    '[astro-snippets/published-key] The API key was found in index.html. These files were removed.',
  );
  await expectNowhere(site, output, service.environment.SNIPPETS_API_KEY);
  await site.remove();
});

test('the name of a snippet that contains the API key is stored nowhere', async () => {
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

describe('a redirect is not followed:', () => {
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
