import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCommand } from '../support/command.ts';
import { cleanEnvironment } from '../support/environment.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { temporarySite } from '../support/site.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ 1: '<b>one</b>', 2: 'two' });
});
afterAll(() => service.close());

/** Everything is rendered on demand. An integration copies the output, as adapters do, before `snippets()` is asked. */
const config = `
import { cpSync } from 'node:fs';
import node from '@astrojs/node';
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
const copier = {
  name: 'copier',
  hooks: { 'astro:build:done': ({ dir }) => cpSync(dir, new URL('../copy/', dir), { recursive: true }) },
};
export default defineConfig({
  output: 'server',
  adapter: node({ mode: 'standalone' }),
  integrations: [copier, snippets()],
  vite: {
    build: { assetsInlineLimit: 0 },
    define: { __LEAK__: JSON.stringify(process.env.LEAK ? process.env.SNIPPETS_API_KEY : '') },
  },
});`;
const offer = '<html><body><p><snippet-embed id="1"></snippet-embed></p></body></html>';
const page = (frontmatter = '', body = '') => `---
export const prerender = false;
${frontmatter}
---
<html><body><p>{Date.now()}</p>${body}<script>console.log('live', __LEAK__);</script></body></html>`;

test('an embed in public/ is inlined where no page is prerendered, before other integrations copy it', async () => {
  const site = await temporarySite({
    'astro.config.mjs': config,
    'src/pages/index.astro': page(),
    'public/offer.html': offer,
  });
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode, output).toBe(0);
  expect(await site.read('client/offer.html')).toContain('<p><b>one</b></p>');
  expect(await site.read('copy/offer.html')).toContain('<p><b>one</b></p>');
  const checked = await startCommand(site.directory, ['check'], service.environment).ended;
  expect(checked, checked.output).toMatchObject({ exitCode: 0 });

  await site.write({ 'public/offer.html': offer.replace('"1"', '"404"') });
  const failed = await site.build(service.environment);
  expect(failed.exitCode).not.toBe(0);
  expect(failed.output).toContain('Snippet 404');
  expect(await site.list()).not.toContain('client/offer.html');
  expect(await site.list('node_modules/.astro/astro-snippets')).not.toContain('manifest.json');
});

test('the API key in a script for the browser fails the build where no page is prerendered', async () => {
  const site = await temporarySite({ 'astro.config.mjs': config, 'src/pages/index.astro': page() });
  const { exitCode, output } = await site.build({ ...service.environment, LEAK: '1' });
  expect(exitCode).not.toBe(0);
  expect(output).toContain('published-key');
  expect(output).not.toContain(service.environment.SNIPPETS_API_KEY);
});

test('a collection of snippets is recorded where no page is prerendered, so that check can compare', async () => {
  const site = await temporarySite({
    'astro.config.mjs': config,
    'src/content.config.ts': `
      import { defineCollection } from 'astro:content';
      import { snippetLoader } from 'astro-snippets/loader';
      export const collections = {
        legal: defineCollection({ loader: snippetLoader({ imprint: { id: 2 } }) }),
      };`,
    'src/pages/index.astro': page(
      `import { getCollection } from 'astro:content';
const entries = await getCollection('legal');`,
      '{entries.map(({ data }) => <p set:html={data.content} />)}',
    ),
  });
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode, output).toBe(0);
  const check = () => startCommand(site.directory, ['check'], service.environment).ended;
  expect(await check()).toMatchObject({ exitCode: 0 });
  service.put(2, 'another two');
  expect(await check()).toMatchObject({ exitCode: 10 });
});

test('a build of the same process as one that prerendered pages inlines an embed in public/, too', async () => {
  const site = await temporarySite({
    'public/offer.html': offer,
    'src/pages/index.astro': '',
    'program.mjs': `
import { writeFileSync } from 'node:fs';
import node from '@astrojs/node';
import { build } from 'astro';
import snippets from 'astro-snippets';
const integrations = [snippets()];
for (const prerender of [true, false]) {
  writeFileSync('src/pages/index.astro', '---\\nexport const prerender = ' + prerender + ';\\n---\\n<p>page</p>');
  await build({ configFile: false, output: 'server', adapter: node({ mode: 'standalone' }), integrations });
}`,
  });
  const env = { ...cleanEnvironment(), ...service.environment, ASTRO_TELEMETRY_DISABLED: '1' };
  await promisify(execFile)(process.execPath, ['program.mjs'], { cwd: site.directory, env });
  expect(await site.list()).not.toContain('client/index.html');
  expect(await site.read('client/offer.html')).toContain('<p><b>one</b></p>');
});
