import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readManifest } from '../../../src/record/manifest.ts';
import { isHolder, takeLock } from '../../../src/record/output-lock.ts';
import { sharedService } from '../../support/built-site.ts';
import { temporarySite } from '../../support/site.ts';

const service = await sharedService({ 1: '<b>one</b>' });

test.for([
  ['with collections', ''],
  ['whose content config mentions embeds', `console.log('snippet-embed');`],
])('a build %s waits for a refresh, and knows what it has recorded', async ([, code]) => {
  const site = await temporarySite({
    'src/content.config.ts': `
      ${code}
      import { defineCollection } from 'astro:content';
      import { snippetLoader } from 'astro-snippets/loader';
      export const collections = { texts: defineCollection({ loader: snippetLoader({ one: { id: 1 } }) }) };`,
    'src/pages/index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
  });
  const folder = join(site.directory, 'node_modules/.astro/astro-snippets');
  const record = join(folder, 'manifest.json');
  expect((await site.build(service.environment)).exitCode).toBe(0);
  const refresh = takeLock(join(folder, 'manifest.lock'), 'refresh');
  if (isHolder(refresh)) throw new Error('The lock is held.');
  const build = site.start(['build'], service.environment);
  await expect.poll(build.output, { timeout: 60_000 }).toContain('Waiting for the refresh');
  const refreshedAt = new Date().toISOString();
  await writeFile(record, JSON.stringify({ ...JSON.parse(await readFile(record, 'utf8')), refreshedAt }));
  refresh.release();
  const { exitCode, output } = await build.ended;
  expect(exitCode, output).toBe(0);
  expect((await readManifest(record)).manifest?.before?.at).toBe(refreshedAt);
});
