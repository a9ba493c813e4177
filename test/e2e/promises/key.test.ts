import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryService } from '../../support/service/service.ts';
import { pageWith, temporarySite } from '../../support/site/site.ts';
import { expectKeyNowhere } from '../../support/tools/key-search.ts';

test('a verbose log does not contain an API key from a file', async () => {
  const service = await temporaryService({ 1: '<b>one</b>' });
  const { SNIPPETS_API_KEY: key, ...withoutKey } = service.environment;
  const site = await temporarySite({
    'src/pages/index.astro': pageWith('<p><Snippet id={1} /></p>'),
    'the-key': `${key}\n`,
  });
  // Node reads NODE_DEBUG when it starts. With `*`, it logs 100 MB.
  const NODE_DEBUG = 'child_process,fetch,http,http2,https,net,tls,undici';
  const environment = { ...withoutKey, SNIPPETS_API_KEY_FILE: 'the-key', NODE_DEBUG, DEBUG: '*' };
  const { exitCode, output } = await site.start(['build', '--verbose'], environment).ended;
  expect(exitCode).toBe(0);
  expect(await site.read('index.html')).toContain('<p><b>one</b></p>');
  expect(output).toContain('using resolved env');
  await rm(join(site.directory, 'the-key'));
  await expectKeyNowhere(site, output, key);
});
