import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { sharedSite } from '../support/site/built-site.ts';
import { temporarySite } from '../support/site/site.ts';
import { exits } from '../support/tools/exits.ts';

const { service, site } = await sharedSite(
  { 1: '<b>one</b>' },
  {
    'astro.config.mjs': `
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
const fail = () => { if (process.env.FAILING_DONE) throw new Error('This integration failed.'); };
const late = { name: 'late', hooks: { 'astro:build:done': fail } };
const adder = { name: 'adder', hooks: { 'astro:config:setup': ({ updateConfig }) => updateConfig({ integrations: [late] }) } };
export default defineConfig({ integrations: [snippets(), adder] });`,
    'src/pages/a.astro': '<p><snippet-embed id="1"></snippet-embed></p>',
    'src/pages/b.astro': `---
if (import.meta.env.FAILING) throw new Error('This page cannot be rendered.');
---
<p>Plain</p>`,
  },
);

const changedMeanwhile = async () => {
  const files = {
    'astro.config.mjs': `
import { readFileSync, writeFileSync } from 'node:fs';
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
const page = new URL('dist/index.html', import.meta.url);
const sanitize = (html) => {
  writeFileSync(page, 'More. ' + readFileSync(page, 'utf8'));
  return html;
};
export default defineConfig({ integrations: [snippets({ sanitize })] });`,
    'src/pages/index.astro': '<p><snippet-embed id="1"></snippet-embed></p>',
  };
  return { site: await temporarySite(files), service };
};
const records = () => site.list('node_modules/.astro/astro-snippets');

describe('a build that fails', () => {
  beforeAll(() => site.builds());

  test('before it changes the output leaves the last build and its manifest', async () => {
    const before = await site.list();
    expect(await exits(1, site.build({}))).toContain('Needed for the snippets of the last build.');
    expect(await site.list()).toEqual(before);
    expect(await site.read('a/index.html')).toContain('<b>one</b>');
    expect(await records()).toContain('manifest.json');
  });

  test('while pages render leaves no manifest', async () => {
    const output = await exits(1, site.build({ ...service.environment, FAILING: '1' }));
    expect(output).toContain('This page cannot be rendered.');
    expect(await records()).not.toContain('manifest.json');
  });

  test('in the astro:build:done of another integration leaves no manifest, so that a check asks for a build', async () => {
    await site.builds();
    const output = await exits(1, site.build({ ...service.environment, FAILING_DONE: '1' }));
    expect(output).toContain('This integration failed.');
    expect(await records()).not.toContain('manifest.json');
    const check = await exits(3, site.run('check'));
    expect(check).toContain('The last build was not finished. There is no record at');
  });

  test('because of its snippets leaves a reason that check and refresh print', async () => {
    await site.builds();
    Object.assign(service.faults, { failing: 1, failingStatus: 402 });
    expect(await site.build()).toMatchObject({ exitCode: 1 });
    service.clearFaults();
    for (const command of ['check', 'refresh']) {
      expect(await exits(3, site.run(command))).toMatch(
        /^The last build failed: 1 snippet .+ 402 Payment Required.* \[payment-required\]\. There is no record at .+\n\nBuild again\.$/m,
      );
    }
    await site.builds();
    expect(await site.run('check')).toMatchObject({ exitCode: 0 });
  });
});

test('a build writes through an output folder that is a symbolic link, and keeps the link', async () => {
  const linked = await temporarySite({
    'src/pages/index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
  });
  await mkdir(join(linked.directory, 'published'));
  await symlink(join(linked.directory, 'published'), join(linked.directory, 'dist'), 'junction');
  await linked.builds(service.environment);
  expect(await linked.list('published')).toEqual(['index.html']);
  expect(await linked.read('index.html')).toContain('<b>one</b>');
});

test('a build fails if something else changes a page while snippets are fetched', async () => {
  const { site, service } = await changedMeanwhile();
  const output = await exits(1, site.build(service.environment));
  expect(output).toContain('index.html was changed while snippets were fetched. It was removed.');
  expect(await site.list('dist')).not.toContain('index.html');
});
