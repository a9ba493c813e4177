import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryService } from '../../support/service/service.ts';
import { temporarySite } from '../../support/site/site.ts';
import { cleanEnvironment } from '../../support/tools/environment.ts';

test('a build in a process that has prerendered pages before still inlines an embed in public/', async () => {
  const service = await temporaryService({ 1: '<b>one</b>' });
  const site = await temporarySite({
    'public/offer.html': '<html><body><p><snippet-embed id="1"></snippet-embed></p></body></html>',
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
